import Glibc

/// Overwrites secrets where other users of the machine can read them: `/proc/PID/cmdline` and `environ`.
package enum SecretScrubber {
    /// Overwrites the bytes in the process's own arguments.
    ///
    /// Must follow everything that reads them.
    static func scrubArguments(_ secrets: [SecretArgument]) {
        let count = Int(CommandLine.argc)
        for secret in secrets where secret.index + 1 < count {
            guard let argument = CommandLine.unsafeArgv[secret.index + 1] else { continue }
            let bytes = UnsafeMutableRawBufferPointer(start: argument, count: strlen(argument))
            for range in hidden(bytes, secret) {
                bytes[range].initializeMemory(as: UInt8.self, repeating: 0x78)
            }
        }
    }

    /// Overwrites the values of variables, and takes them out of the environment of children.
    static func scrubEnvironment(_ names: some Sequence<String>) {
        for name in names {
            guard let value = getenv(name) else { continue }
            memset(value, 0x78, strlen(value))
            unsetenv(name)
        }
    }

    /// The bytes of an argument that must not be seen.
    package static func hidden(
        _ argument: some RandomAccessCollection<UInt8>, _ secret: SecretArgument
    ) -> [Range<Int>] {
        let bytes = Array(argument)
        guard secret.offset < bytes.count else { return [] }
        switch secret.kind {
        case .none: return []
        case .whole: return [secret.offset..<bytes.count]
        case .headerValue:
            guard let colon = bytes[secret.offset...].firstIndex(of: 0x3A) else { return [] }
            let value = bytes[(colon + 1)...].firstIndex { $0 != 0x20 } ?? bytes.count
            return value < bytes.count ? [value..<bytes.count] : []
        case .url: return hiddenInURL(bytes[secret.offset...])
        }
    }

    /// The user part, and everything from the query on.
    private static func hiddenInURL(_ url: ArraySlice<UInt8>) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var authority = url
        if let slashes = url.indices.dropLast().first(where: { url[$0] == 0x2F && url[$0 + 1] == 0x2F }) {
            authority = url[(slashes + 2)...]
        }
        let end = authority.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? authority.endIndex
        if let at = authority[..<end].lastIndex(of: 0x40), at > authority.startIndex {
            ranges.append(authority.startIndex..<at)
        }
        if let query = url.firstIndex(of: 0x3F), query + 1 < url.endIndex {
            ranges.append(query + 1..<url.endIndex)
        }
        return ranges
    }
}
