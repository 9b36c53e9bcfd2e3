/// Builds heads from header lines as they come from the wire; each status line starts a new head.
///
/// Interim answers, a proxy's CONNECT and authentication rounds all come the same way, and so do trailers: only
/// the head that was completed last counts, and what follows its empty line is passed over.
package struct HeadParser: Sendable {
    package static let maximumFields = 300
    package static let maximumBytes = 300 << 10

    /// The head has more fields or bytes than any honest one, and is cut there.
    package private(set) var overflowed = false
    /// A status line came that is not HTTP's, such as `ICY 200 OK`.
    package private(set) var isMalformed = false

    private var status: Int?
    private var fields: [HeaderField] = []
    private var size = 0
    private var isComplete = false

    package init() {}

    /// The last complete head.
    package var head: ResponseHead? {
        guard isComplete, !isMalformed, let status else { return nil }
        return ResponseHead(status: status, fields: HeaderFields(fields))
    }

    /// A status line came.
    package var isStarted: Bool { status != nil }

    /// Takes one line, with or without its line end.
    package mutating func line(_ bytes: UnsafeRawBufferPointer) {
        var end = bytes.count
        if end > 0, bytes[end - 1] == 0x0A { end -= 1 }
        if end > 0, bytes[end - 1] == 0x0D { end -= 1 }
        let line = UnsafeRawBufferPointer(rebasing: bytes[..<end])
        if line.starts(with: "HTTP/".utf8) {
            start(Array(line))
        } else if status == nil {
            isMalformed = isMalformed || !line.isEmpty
        } else if line.isEmpty {
            isComplete = true
        } else if !isComplete {
            field(line)
        }
    }

    private mutating func start(_ line: [UInt8]) {
        self = HeadParser()
        fields.reserveCapacity(16)
        let words = line.split(separator: ASCII.space, omittingEmptySubsequences: true)
        let code = words.count > 1 ? words[1] : []
        status = code.count == 3 ? ASCII.number(String(decoding: code, as: UTF8.self)).map { Int($0) } : nil
        isMalformed = status == nil
    }

    private mutating func field(_ line: UnsafeRawBufferPointer) {
        size += line.count
        if fields.count >= HeadParser.maximumFields || size > HeadParser.maximumBytes { overflowed = true }
        guard !overflowed else { return }
        if ASCII.isBlank(line[0]) {
            // An obsolete line fold (RFC 9112 §5.2) reads as one space.
            guard !fields.isEmpty else { return }
            fields[fields.count - 1].bytes += [ASCII.space] + ASCII.trimmed(line[...])
            return
        }
        guard let colon = line.firstIndex(of: ASCII.colon), colon > 0 else { return }
        let name = String(decoding: ASCII.trimmed(line[..<colon]), as: UTF8.self)
        fields.append(HeaderField(name: name, bytes: Array(ASCII.trimmed(line[(colon + 1)...]))))
    }
}
