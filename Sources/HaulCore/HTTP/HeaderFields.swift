/// One header field.
///
/// The value is kept as the raw bytes that came: servers send Latin-1, UTF-8 and worse.
package struct HeaderField: Hashable, Sendable {
    package let name: String
    package var bytes: [UInt8]
    /// Tells names apart in most cases: every answer is searched for a dozen of them.
    fileprivate let key: UInt64

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

    /// The same for names that are the same.
    fileprivate static func key(_ name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64(ASCII.lowered($1))) &* 0x100_0000_01B3 }
    }

    package static func same(_ left: String, _ right: String) -> Bool {
        let (first, second) = (left.utf8, right.utf8)
        guard first.count == second.count else { return false }
        return first.elementsEqual(second) { ASCII.lowered($0) == ASCII.lowered($1) }
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
