import Glibc
import HaulPlatform
import HaulTestSupport
import Testing

@Suite("Descriptor")
struct DescriptorTests {
    private func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) >= 0 }

    @Test("the last reference closes it")
    func lastReference() throws {
        let directory = try TemporaryDirectory()
        var number: Int32 = -1
        do {
            let file = try LiveSystem().open(directory.path, in: nil, .directory)
            number = file.number
            #expect(number > 2 && isOpen(number))
            // Nothing that Haul opens reaches a child.
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
            withExtendedLifetime(file) {}
        }
        // Another test may have got the number since, but then not for this directory.
        var status = stat()
        var named = stat()
        #expect(stat(directory.path, &named) == 0)
        #expect(fstat(number, &status) != 0 || status.st_ino != named.st_ino)
    }

    @Test("closing twice closes once: the number may be another file's by then")
    func twice() throws {
        let directory = try TemporaryDirectory()
        let file = try LiveSystem().open(directory.path, in: nil, .directory)
        file.close()
        #expect(file.number == -1)
        let other = try LiveSystem().open(directory.path, in: nil, .directory)
        file.close()
        #expect(isOpen(other.number))
    }

    @Test("the path of a name is as a person would write it")
    func paths() {
        let path = { (directory: String) in
            Descriptor(-1, path: directory, system: LiveSystem()).path(of: "x")
        }
        #expect(path("/d") == "/d/x" && path("/") == "/x" && path("d/") == "d/x")
        #expect(path(".") == "x" && path("") == "x")
    }
}
