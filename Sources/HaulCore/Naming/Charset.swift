import CUchardet
import Glibc

/// Text in charsets other than UTF-8, decoded by iconv, guessed by uchardet where nothing names one.
enum Charset {
    /// The text that the bytes mean in the charset; `nil` when it is unknown or the bytes do not fit it.
    static func decoded(_ bytes: [UInt8], as name: String) -> String? {
        switch ASCII.lowered(name) {
        case "utf-8", "utf8": return ASCII.text(bytes)
        // Who says Latin-1 or ASCII means Windows-1252, as the web has agreed (WHATWG Encoding).
        case "iso-8859-1", "latin1", "us-ascii", "ascii", "windows-1252": return windows1252(bytes)
        default: return converted(bytes, from: name)
        }
    }

    /// Bytes of an unknown charset: UTF-8 if they are that, else what their shape suggests; never fails.
    static func guessed(_ bytes: [UInt8]) -> String {
        if let text = ASCII.text(bytes) { return text }
        // Lone high bytes between ASCII ones are accented letters; two-byte charsets come in runs.
        if longestHighRun(bytes) > 1 || bytes.contains(where: { (0x80...0x9F).contains($0) }),
            let name = detected(bytes), let text = decoded(bytes, as: name)
        {
            return text
        }
        return windows1252(bytes)
    }

    private static func longestHighRun(_ bytes: [UInt8]) -> Int {
        var (run, longest) = (0, 0)
        for byte in bytes {
            run = byte >= 0x80 ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }

    private static func detected(_ bytes: [UInt8]) -> String? {
        guard let detector = uchardet_new() else { return nil }
        defer { uchardet_delete(detector) }
        let fed = bytes.withUnsafeBytes {
            uchardet_handle_data(detector, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
        }
        guard fed == 0 else { return nil }
        uchardet_data_end(detector)
        let name = uchardet_get_charset(detector).map { String(cString: $0) } ?? ""
        return name.isEmpty ? nil : name
    }

    /// Every byte means something: the five that Windows leaves open are the C1 controls, removed later.
    private static func windows1252(_ bytes: [UInt8]) -> String {
        let special: [UInt32] = [
            0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
            0x0152, 0x8D,
            0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122,
            0x0161, 0x203A,
            0x0153, 0x9D, 0x017E, 0x0178,
        ]
        var scalars = String.UnicodeScalarView()
        for byte in bytes {
            let value = (0x80...0x9F).contains(byte) ? special[Int(byte) - 0x80] : UInt32(byte)
            if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    private static func converted(_ bytes: [UInt8], from name: String) -> String? {
        // iconv reads "//IGNORE" and the like from the name, and would load modules by odd ones.
        let isName = { (byte: UInt8) in
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-_.:".utf8.contains(byte)
        }
        guard !name.isEmpty, name.utf8.count <= 40, name.utf8.allSatisfy(isName) else { return nil }
        guard let converter = iconv_open("UTF-8", name), converter != UnsafeMutableRawPointer(bitPattern: -1)
        else {
            return nil
        }
        defer { iconv_close(converter) }
        var input = bytes.map { CChar(bitPattern: $0) }
        // No charset needs more than four bytes of UTF-8 for one of its own, combining sequences included.
        var output = [CChar](repeating: 0, count: bytes.count * 4 + 16)
        let written: Int? = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                var (from, left) = (source.baseAddress, source.count)
                var (to, room) = (target.baseAddress, target.count)
                guard iconv(converter, &from, &left, &to, &room) != Int(bitPattern: UInt.max), left == 0,
                    iconv(converter, nil, nil, &to, &room) != Int(bitPattern: UInt.max)
                else { return nil }
                return target.count - room
            }
        }
        guard let written else { return nil }
        return ASCII.text(output[..<written].map { UInt8(bitPattern: $0) })
    }
}
