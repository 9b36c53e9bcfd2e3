/// One header field.
///
/// The value is kept as the raw bytes that came: servers send Latin-1, UTF-8 and worse.
package struct HeaderField: Hashable, Sendable {
    package var name: String
    package var bytes: [UInt8]

    package init(_ name: String, _ value: String) {
        self.name = name
        bytes = Array(value.utf8)
    }

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// The value as text; bytes that are not UTF-8 become U+FFFD.
    package var value: String { String(decoding: bytes, as: UTF8.self) }
}

/// The fields of one head, in order, duplicates kept; names compare without case (RFC 9110 §5.1).
package struct HeaderFields: Hashable, Sendable {
    package var all: [HeaderField]

    package init(_ all: [HeaderField] = []) { self.all = all }

    /// The first value of that name.
    package subscript(_ name: String) -> String? {
        all.first { HeaderFields.same($0.name, name) }?.value
    }

    package func values(_ name: String) -> [String] {
        all.filter { HeaderFields.same($0.name, name) }.map(\.value)
    }

    package func first(_ name: String) -> HeaderField? {
        all.first { HeaderFields.same($0.name, name) }
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
