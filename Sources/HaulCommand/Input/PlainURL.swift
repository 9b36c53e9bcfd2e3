/// Tells at a glance that a URL of a long list is fine, so that only odd ones are taken apart.
enum PlainURL {
    /// `http` or `https`, a host name or IPv4 address in small letters, perhaps a port, and visible ASCII after it.
    ///
    /// - Returns: false for everything about which there could be doubt, good or bad.
    static func isSurelyValid(_ url: String) -> Bool {
        var url = url
        return url.withUTF8 { bytes in
            guard let start = authorityStart(bytes) else { return false }
            var end = start
            while end < bytes.count, isHostByte(bytes[end]) { end += 1 }
            guard isHost(bytes[start..<end]) else { return false }
            if end < bytes.count, bytes[end] == 0x3A {
                let port = bytes[(end + 1)...].prefix { $0 >= 0x30 && $0 <= 0x39 }
                guard (1...5).contains(port.count), port.first != 0x30,
                    port.reduce(0, { $0 * 10 + Int($1 & 15) }) < 65_536
                else { return false }
                end = port.endIndex
            }
            guard end < bytes.count, bytes[end] == 0x2F else { return end == bytes.count }
            return bytes[end...].allSatisfy { $0 > 0x20 && $0 < 0x7F }
        }
    }

    private static func authorityStart(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        if bytes.starts(with: "https://".utf8) { return 8 }
        return bytes.starts(with: "http://".utf8) ? 7 : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        (byte >= 0x61 && byte <= 0x7A) || (byte >= 0x30 && byte <= 0x39) || byte == 0x2E || byte == 0x2D
    }

    /// Labels of 1 to 63 bytes that begin and end with a letter or digit; the last one begins with a letter, or
    /// there are four plain numbers below 256.
    private static func isHost(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard host.count <= 253 else { return false }
        var labels = 0
        var numbers = 0
        var lastIsName = false
        for label in host.split(separator: 0x2E, omittingEmptySubsequences: false) {
            guard (1...63).contains(label.count), label.first != 0x2D, label.last != 0x2D else {
                return false
            }
            // Names in punycode have rules of their own.
            guard !label.starts(with: "xn--".utf8) else { return false }
            labels += 1
            lastIsName = label.first.map { $0 >= 0x61 } ?? false
            let isNumber =
                label.count <= 3 && label.allSatisfy { $0 < 0x3A }
                && (label.count == 1 || label.first != 0x30)
            if isNumber, label.reduce(0, { $0 * 10 + Int($1 & 15) }) < 256 { numbers += 1 }
        }
        return lastIsName || (labels == 4 && numbers == 4)
    }
}
