import HaulCore
import HaulEngine
import Testing

@testable import HaulCommand

@Suite("Settings file")
struct ConfigFileTests {
    private func error(_ text: String) -> HaulError? {
        failure { _ = try configured(["--config", "/c"], files: ["/c": text]) }
    }

    @Test("names are those of the options, with or without an equals sign, and comments are skipped")
    func lines() throws {
        let text = """
            # a comment
            limit-rate = 1M
              connections 4

            insecure
            header = "X: \\"quoted\\" # not a comment"
            user-agent=me
            proxy =
            """
        let (configuration, _, _) = try configured(["--config", "/c"], files: ["/c": text])
        #expect(configuration.download.rateLimit == 1 << 20)
        #expect(configuration.download.connections == .fixed(4))
        #expect(configuration.download.connection.isInsecure)
        #expect(configuration.download.headers == [HeaderField("X", "\"quoted\" # not a comment")])
        #expect(configuration.download.userAgent == "me")
        #expect(configuration.download.connection.proxy == "")
    }

    @Test("Windows line ends are line ends")
    func carriageReturns() throws {
        let (configuration, _, _) = try configured(
            ["--config", "/c"], files: ["/c": "connections=4\r\nretries=2\r\n"])
        #expect(configuration.download.connections == .fixed(4))
        #expect(configuration.download.retries == 2)
    }

    @Test(
        "a bad line is named with file, line and what would be right",
        arguments: [
            ("\nlimit-rat = 3", "/c line 2: there is no setting 'limit-rat'", "limit-rate"),
            ("--connections 3", "/c line 1: there is no setting '--connections'", "connections"),
            ("output = x", "/c line 1: 'output' has no place in a settings file", nil),
            ("connections", "/c line 1: 'connections' needs a value", nil),
            ("a=1\n", "/c line 1: there is no setting 'a'", nil),
            ("split=5", "/c line 1: there is no setting 'split'", "connections N"),
            (
                "retries = 3\nconnections = x",
                "/c line 2: connections: 'x' is not auto or a whole number from 1 to 128", nil
            ),
        ] as [(String, String, String?)])
    func badLines(_ text: String, _ message: String, _ advice: String?) {
        let error = error(text)
        #expect(error?.code == .usage)
        #expect(error?.message == message)
        #expect(error?.advice == advice)
    }

    @Test("the file lies in the configuration directory; without one there are no settings")
    func places() throws {
        let files = ["/x/haul/haul.conf": "retries=1", "/home/me/.config/haul/haul.conf": "retries=2"]
        let retries = { (environment: [String: String]) throws in
            try configured([], environment: environment, files: files).configuration.download.retries
        }
        #expect(try retries(["XDG_CONFIG_HOME": "/x", "HOME": "/home/me"]) == 1)
        #expect(try retries(["XDG_CONFIG_HOME": "relative", "HOME": "/home/me"]) == 2)
        #expect(try retries(["HOME": "/home/me"]) == 2)
        #expect(try retries(["HOME": "/home/you"]) == 5)
        #expect(try retries([:]) == 5)
    }

    @Test("--no-config leaves it out, and a file that was named must be there")
    func naming() throws {
        let files = ["/home/me/.config/haul/haul.conf": "retries=2"]
        let (configuration, _, _) = try configured(
            ["--no-config"], environment: ["HOME": "/home/me"], files: files)
        #expect(configuration.download.retries == 5)
        #expect(
            failure { _ = try configured(["--config", "/no"]) }?.message == "there is no settings file /no")
    }

    @Test("the environment beats the file, and the command line beats both")
    func precedence() throws {
        let files = ["/c": "user = file:1\nretries = 1"]
        let environment = ["HAUL_USER": "env:2"]
        let first = try configured(["--config", "/c"], files: files).configuration
        #expect(first.download.credentials?.user == "file")
        let second = try configured(["--config", "/c"], environment: environment, files: files).configuration
        #expect(second.download.credentials?.user == "env")
        let third = try configured(
            ["-u", "arg:3", "--retries", "7", "--config", "/c"], environment: environment, files: files
        ).configuration
        #expect(third.download.credentials?.user == "arg")
        #expect(third.download.retries == 7)
    }

    @Test("a secret that others can read is warned of, and not repeated")
    func readableSecrets() throws {
        let files = ["/c": "user = me:hunter2"]
        let (_, _, warnings) = try configured(["--config", "/c"], files: files, privateFiles: false)
        #expect(warnings == ["/c holds a secret ('user') and others can read it; chmod 600 helps"])
        #expect(try configured(["--config", "/c"], files: files).warnings.isEmpty)
        let plain = ["/c": "retries = 3\nuser = @/u", "/u": "me:x"]
        #expect(try configured(["--config", "/c"], files: plain, privateFiles: false).warnings.isEmpty)
    }
}
