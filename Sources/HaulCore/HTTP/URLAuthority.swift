extension URLParser {
    /// Splits at the last "@", as browsers and libcurl do: passwords may hold others.
    func splitUserInfo(_ authority: ArraySlice<UInt8>) -> (ArraySlice<UInt8>?, ArraySlice<UInt8>) {
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return (nil, authority) }
        return (authority[..<at], authority[(at + 1)...])
    }

    func credentials(_ info: ArraySlice<UInt8>?, of scheme: String?) throws(HaulError) -> (String?, String?) {
        guard let info, !info.isEmpty else { return (nil, nil) }
        // Browsers end the host at a backslash; a reader that does not would see another host.
        guard !info.contains(ASCII.backslash) else { throw invalid("a backslash must be written %5C") }
        let user = info.prefix { $0 != ASCII.colon }
        let password = user.endIndex < info.endIndex ? info[(user.endIndex + 1)...] : nil
        let decoded = [user, password ?? []].map { PercentCoding.decoded($0) }
        guard let userText = ASCII.text(decoded[0]), let passwordText = ASCII.text(decoded[1]) else {
            throw invalid("its user name or password is not UTF-8")
        }
        guard !decoded.joined().contains(0) else { throw invalid("its user name or password holds a NUL") }
        // Line ends would be commands of their own on an FTP control connection.
        let isFTP = scheme == nil || scheme == "ftp" || scheme == "ftps"
        guard !isFTP || !decoded.joined().contains(where: ASCII.isControl) else {
            throw invalid("its user name or password holds a control character")
        }
        return (userText, password == nil ? nil : passwordText)
    }

    func splitPort(_ bytes: ArraySlice<UInt8>) throws(HaulError) -> (host: String, port: Int?) {
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
                throw invalid("a bracket is not closed")
            }
            return (try addressHost(bytes[(bytes.startIndex + 1)..<end]), try port(bytes[(end + 1)...]))
        }
        let name = bytes.prefix { $0 != ASCII.colon }
        guard bytes.count(where: { $0 == ASCII.colon }) < 2 else {
            throw invalid(
                "it has more than one colon after the host", advice: "put an IPv6 address into [brackets]")
        }
        return (try namedHost(name), try port(bytes[name.endIndex...]))
    }

    /// Reads what follows the host: nothing, or a colon and 1 to 65535.
    private func port(_ bytes: ArraySlice<UInt8>) throws(HaulError) -> Int? {
        guard let first = bytes.first else { return nil }
        guard first == ASCII.colon else { throw invalid("a port must follow the bracket, or nothing") }
        let digits = String(decoding: bytes.dropFirst(), as: UTF8.self)
        guard !digits.isEmpty else { throw invalid("the port after the colon is missing") }
        guard digits.utf8.allSatisfy(ASCII.isDigit) else { throw invalid("its port is not a number") }
        guard let port = ASCII.number(digits), port >= 1, port <= 65535 else {
            throw invalid("its port is not between 1 and 65535")
        }
        return Int(port)
    }

    private func addressHost(_ bytes: ArraySlice<UInt8>) throws(HaulError) -> String {
        let address = bytes.prefix { $0 != ASCII.percent }
        var zone = bytes[address.endIndex...]
        let text = String(decoding: address, as: UTF8.self)
        guard HostSyntax.isIPv6(text) else { throw invalid("there is no IPv6 address in its brackets") }
        guard !zone.isEmpty else { return text }
        zone = zone.starts(with: "%25".utf8) ? zone.dropFirst(3) : zone.dropFirst()
        guard !zone.isEmpty, zone.allSatisfy(HostSyntax.isZoneByte) else {
            throw invalid("its IPv6 zone is not valid")
        }
        return text + "%" + String(decoding: zone, as: UTF8.self)
    }

    private func namedHost(_ bytes: ArraySlice<UInt8>) throws(HaulError) -> String {
        guard !bytes.isEmpty else { throw invalid("the host is missing") }
        if bytes.first != UInt8(ascii: "."), bytes.allSatisfy(HostSyntax.isNameByte) {
            return String(decoding: bytes, as: UTF8.self)
        }
        guard let text = ASCII.text(PercentCoding.decoded(bytes)), let host = InternationalHost.ascii(text),
            !host.isEmpty, !host.hasPrefix("."), host.utf8.allSatisfy(HostSyntax.isNameByte)
        else { throw invalid("its host is not a valid name") }
        return host
    }
}

/// What may stand in a host.
enum HostSyntax {
    /// Letters, digits, hyphen, dot, underscore and tilde: all that names in use have, and all that libcurl accepts.
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: ASCII.isLetter(byte) || ASCII.isDigit(byte)
        }
    }

    static func isZoneByte(_ byte: UInt8) -> Bool { isNameByte(byte) }

    /// Whether the text is an IPv6 address (RFC 4291 §2.2), the form with an IPv4 tail included.
    static func isIPv6(_ text: String) -> Bool {
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return false }
        var groups = 0
        for (index, half) in halves.enumerated() where !half.isEmpty {
            guard let count = groupCount(half, isLast: index == halves.count - 1) else { return false }
            groups += count
        }
        return halves.count == 2 ? groups < 8 : groups == 8
    }

    private static func groupCount(_ text: Substring, isLast: Bool) -> Int? {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        var count = 0
        for (index, group) in groups.enumerated() {
            if isLast, index == groups.count - 1, group.contains(".") {
                guard isIPv4(group) else { return nil }
                count += 2
            } else {
                guard (1...4).contains(group.utf8.count), group.utf8.allSatisfy({ ASCII.hexValue($0) != nil })
                else { return nil }
                count += 1
            }
        }
        return count
    }

    private static func isIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { (ASCII.number($0) ?? 256) < 256 && $0.utf8.count <= 3 }
    }
}
