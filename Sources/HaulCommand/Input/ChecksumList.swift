package import HaulCore

/// What `sha256sum` and its relatives write: digests with the names of files.
package struct ChecksumList: Sendable {
    package struct Entry: Hashable, Sendable {
        /// As in the list, with directories; "" in a list of one bare digest.
        package let name: String
        package let value: ChecksumValue
    }

    package let entries: [Entry]
    /// Indices of entries by the last component of their names.
    private let byName: [Substring: [Int]]

    /// Lines in the GNU format (`HEX  name`, `HEX *name`, escaped names), the BSD format (`SHA256 (name) = HEX`),
    /// or one digest alone; other lines (comments, signatures) are passed over.
    ///
    /// - Throws: `.usage` when there is no digest in it that Haul can check.
    package init(parsing bytes: [UInt8], file: String) throws(HaulError) {
        var entries: [Entry] = []
        for line in bytes.split(separator: 0x0A) {
            let line = line.last == 0x0D ? line.dropLast() : line
            if let entry = ChecksumLine.parse(line), entry.name != "" || bytes.count < 1024 {
                entries.append(entry)
            }
        }
        guard !entries.isEmpty else {
            throw HaulError(
                .usage, "\(file) holds no checksums that can be used",
                advice: "lists of sha512sum, sha256sum, sha1sum and md5sum work")
        }
        if entries.contains(where: { !$0.name.isEmpty }) { entries.removeAll { $0.name.isEmpty } }
        self.entries = entries
        byName = Dictionary(grouping: entries.indices) { ChecksumList.lastComponent(entries[$0].name) }
    }

    /// All digests that the list gives for the file.
    ///
    /// `path`: its name, or a path: where two directories of the list have a file of that name, the one
    ///   that agrees with the end of the path counts.
    /// - Throws: `.usage` when the name is not in the list, or stands for two different files.
    package func values(for path: String, file: String) throws(HaulError) -> [ChecksumValue] {
        let name = ChecksumList.lastComponent(path)
        if entries.count == 1, let only = entries.first, only.name.isEmpty { return [only.value] }
        var found = (byName[name] ?? []).map { entries[$0] }
        guard !name.isEmpty, !found.isEmpty else {
            throw HaulError(
                .usage, "\(file) has no checksum for '\(name)'",
                advice: name.isEmpty
                    ? nil : NearestName.find(String(name), among: byName.keys.map(String.init)))
        }
        let exact = found.filter { ChecksumList.agrees($0.name, with: path) }
        if !exact.isEmpty { found = exact }
        let values = found.map(\.value)
        for value in values where values.contains(where: { $0.algorithm == value.algorithm && $0 != value }) {
            throw HaulError(.usage, "\(file) has two different checksums for '\(name)'")
        }
        return values.enumerated().filter { !values[..<$0.offset].contains($0.element) }.map(\.element)
    }

    private static func agrees(_ name: String, with path: String) -> Bool {
        let name = name.hasPrefix("./") ? String(name.dropFirst(2)) : name
        return path == name || path.hasSuffix("/\(name)")
    }

    private static func lastComponent(_ name: String) -> Substring {
        name[(name.lastIndex(of: "/").map(name.index(after:)) ?? name.startIndex)...]
    }
}

/// The grammar of one line.
private enum ChecksumLine {
    static func parse(_ line: ArraySlice<UInt8>) -> ChecksumList.Entry? {
        let isEscaped = line.first == 0x5C
        let text = isEscaped ? line.dropFirst() : line
        return gnu(text, isEscaped) ?? bsd(text, isEscaped)
    }

    /// `HEX`, a space, then a space or `*`, then the name.
    private static func gnu(_ line: ArraySlice<UInt8>, _ isEscaped: Bool) -> ChecksumList.Entry? {
        let digits = line.prefix { $0 != 0x20 && $0 != 0x09 }
        guard let algorithm = ChecksumAlgorithm.allCases.first(where: { $0.length * 2 == digits.count }),
            let value = value(algorithm, digits)
        else { return nil }
        var name = line[digits.endIndex...].dropFirst()
        if name.first == 0x20 || name.first == 0x2A { name = name.dropFirst() }
        return .init(name: decoded(name, isEscaped), value: value)
    }

    /// `SHA256 (name) = HEX`; openssl leaves the spaces before the bracket and the sign out.
    private static func bsd(_ line: ArraySlice<UInt8>, _ isEscaped: Bool) -> ChecksumList.Entry? {
        guard let open = line.firstIndex(of: 0x28), let close = line.lastIndex(of: 0x29), open < close else {
            return nil
        }
        let word = String(decoding: line[..<open], as: UTF8.self).replacing(" ", with: "").replacing(
            "-", with: "")
        guard
            let algorithm = ChecksumAlgorithm.allCases.first(where: {
                $0.rawValue.replacing("-", with: "") == word.lowercased()
            })
        else { return nil }
        let digits = line[close...].dropFirst().filter { $0 != 0x20 && $0 != 0x3D }
        guard let value = value(algorithm, digits) else { return nil }
        return .init(name: decoded(line[(open + 1)..<close], isEscaped), value: value)
    }

    private static func value(_ algorithm: ChecksumAlgorithm, _ digits: some Collection<UInt8>)
        -> ChecksumValue?
    {
        guard let bytes = ChecksumValue.bytes(hex: String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        return ChecksumValue(algorithm, bytes: bytes)
    }

    /// A line that starts with a backslash writes `\\`, `\n` and `\r` in the name.
    private static func decoded(_ name: ArraySlice<UInt8>, _ isEscaped: Bool) -> String {
        guard isEscaped else { return String(decoding: name, as: UTF8.self) }
        var bytes: [UInt8] = []
        var afterBackslash = false
        for byte in name {
            if afterBackslash {
                bytes.append(byte == 0x6E ? 0x0A : byte == 0x72 ? 0x0D : byte)
                afterBackslash = false
            } else if byte == 0x5C {
                afterBackslash = true
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
