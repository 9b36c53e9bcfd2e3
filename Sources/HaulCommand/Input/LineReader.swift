import HaulCore

/// Cuts a stream of bytes into lines without holding more than one of them and one buffer.
struct LineReader {
    /// Fills the buffer from its start and says how many bytes it got; 0 is the end.
    typealias Fill = (inout [UInt8]) throws(HaulError) -> Int

    /// Longer lines are an error: bytes.
    static let longestLine = 1 << 20

    private let fill: Fill
    private var buffer = [UInt8](repeating: 0, count: 128 << 10)
    private var start = 0
    private var end = 0
    /// The beginning of a line that goes on in the next buffer.
    private var carried: [UInt8] = []
    private var isAtEnd = false
    /// The number of the line given last, counted from 1.
    private(set) var number = 0

    init(fill: @escaping Fill) { self.fill = fill }

    /// Reads from bytes that are in memory.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        self.init { (buffer: inout [UInt8]) in
            let part = rest.prefix(buffer.count)
            buffer.replaceSubrange(0..<part.count, with: part)
            rest = rest.dropFirst(part.count)
            return part.count
        }
    }

    /// The next line without its end (LF or CRLF), or `nil` at the end of the stream.
    mutating func next() throws(HaulError) -> ArraySlice<UInt8>? {
        while true {
            if let line = try takeLine() { return line }
            if isAtEnd { return nil }
            carried += buffer[start..<end]
            start = 0
            end = try fill(&buffer)
            isAtEnd = end == 0
            if number == 0, carried.isEmpty, buffer[..<end].starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
        }
    }

    private mutating func takeLine() throws(HaulError) -> ArraySlice<UInt8>? {
        let found = buffer[start..<end].firstIndex(of: 0x0A)
        let length = carried.count + (found ?? end) - start
        if length > LineReader.longestLine {
            throw HaulError(.usage, "line \(number + 1) is longer than \(LineReader.longestLine) bytes")
        }
        guard found != nil || (isAtEnd && length > 0) else { return nil }
        number += 1
        var line = buffer[start..<(found ?? end)]
        if !carried.isEmpty {
            carried += line
            line = carried[...]
            carried = []
        }
        start = found.map { $0 + 1 } ?? end
        return line.last == 0x0D ? line.dropLast() : line
    }
}
