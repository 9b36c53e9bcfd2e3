/// One header field.
///
/// The value is kept as the raw bytes that came: servers send Latin-1, UTF-8 and worse.
package struct HeaderField: Hashable, Sendable {
    package let name: String
    package var bytes: [UInt8]
    /// Tells names apart in most cases: every answer is searched for a dozen of them.
    fileprivate let key: UInt32

    package init(_ name: String, _ value: String) {
        self.init(name: name, bytes: Array(value.utf8))
    }

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        key = HeaderFields.key(name)
    }

    /// The value as text; bytes that are not UTF-8 become U+FFFD.
    package var value: String { String(decoding: bytes, as: UTF8.self) }
}

/// The fields of one head, in order, duplicates kept; names compare without case (RFC 9110 §5.1).
package struct HeaderFields: Hashable, Sendable {
    package var all: [HeaderField]

    package init(_ all: [HeaderField] = []) { self.all = all }

    /// The first value of that name.
    package subscript(_ name: String) -> String? { first(name)?.value }

    package func values(_ name: String) -> [String] {
        let key = HeaderFields.key(name)
        var values: [String] = []
        for field in all where field.key == key && HeaderFields.same(field.name, name) {
            values.append(field.value)
        }
        return values
    }

    package func first(_ name: String) -> HeaderField? {
        let key = HeaderFields.key(name)
        return all.first { $0.key == key && HeaderFields.same($0.name, name) }
    }

    /// The same for names that are the same: length, and three of the letters.
    fileprivate static func key(_ name: String) -> UInt32 {
        let letters = name.utf8
        guard let first = letters.first, let last = letters.last else { return 0 }
        let middle = letters[letters.index(letters.startIndex, offsetBy: letters.count / 2)]
        return [first, middle, last].reduce(UInt32(truncatingIfNeeded: letters.count)) {
            $0 << 8 | UInt32(ASCII.lowered($1))
        }
    }

    package static func same(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                left.indices.allSatisfy { ASCII.lowered(left[$0]) == ASCII.lowered(right[$0]) }
            }
        }
    }
}

/// The final head of one answer (interim 1xx, proxy CONNECT and authentication rounds left out).
package struct ResponseHead: Hashable, Sendable {
    package var status: Int
    package var fields: HeaderFields

    package init(status: Int, fields: HeaderFields) {
        self.status = status
        self.fields = fields
    }
}
