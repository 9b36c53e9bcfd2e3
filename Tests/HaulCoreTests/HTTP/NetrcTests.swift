import HaulCore
import Testing

@Suite("Netrc")
struct NetrcTests {
    private let netrc = Netrc(
        """
        # three entries for one host
        machine files.example login alice password "al ice\\"s"
        machine files.example login bob
            password b0b
        machine Other.example password shared
        default login anonymous password guest
        """)

    @Test(
        "gives the entry of the host and user, and nobody else's",
        arguments: [
            ("files.example", String?.none, "alice", String?("al ice\"s")),
            ("FILES.example", "bob", "bob", "b0b"),
            ("other.example", "carol", "carol", "shared"),
        ])
    func found(host: String, user: String?, expected: String, password: String?) {
        #expect(netrc.credentials(host: host, user: user) == Credentials(user: expected, password: password))
    }

    @Test(
        "gives nothing to an unknown user or host: default is for nobody",
        arguments: [("files.example", String?("eve")), ("else.example", nil), ("example", nil), ("", nil)])
    func missing(host: String, user: String?) {
        #expect(netrc.credentials(host: host, user: user) == nil)
    }
}
