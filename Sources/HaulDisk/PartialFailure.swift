package import HaulPlatform

/// Why a file could not be taken, kept or published.
package enum PartialFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another download holds the partial file: the process with that number, if it can be known.
    case busy(pid: Int32?)
    /// Something that may not be touched has that name.
    case nameTaken(path: String)
    /// Bytes that are missing still, and bytes that are free.
    case noSpace(needed: Int64, free: Int64)
    /// The file system or the process may not hold a file that large; the limit in bytes.
    case tooLarge(limit: Int64)
    /// Somebody removed, renamed, replaced or cut the partial file while it was in use.
    case removedUnderUs(path: String)
    case isDirectory(path: String)
    /// Not the name of an entry of a directory.
    case badName(String)
    /// Bytes of the file are missing: it must not be published.
    case incomplete(have: Int64, length: Int64)
    case system(SystemFailure)

    package var description: String {
        switch self {
        case .busy(let pid):
            "another download holds the partial file" + (pid.map { " (process \($0))" } ?? "")
        case .nameTaken(let path): "\(path) exists already"
        case .noSpace(let needed, let free): "needs \(needed) bytes, \(free) free"
        case .tooLarge(let limit): "no file here may be larger than \(limit) bytes"
        case .removedUnderUs(let path): "\(path) was removed, replaced or cut while in use"
        case .isDirectory(let path): "\(path) is a directory"
        case .badName(let name): "not a file name: \(name.debugDescription)"
        case .incomplete(let have, let length): "only \(have) of \(length) bytes are there"
        case .system(let failure): failure.description
        }
    }
}

/// Makes system failures out of `body` partial failures.
func asPartialFailure<Value>(_ body: () throws(SystemFailure) -> Value) throws(PartialFailure) -> Value {
    do {
        return try body()
    } catch {
        throw .system(error)
    }
}
