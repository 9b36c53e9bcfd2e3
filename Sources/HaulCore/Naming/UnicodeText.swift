import CUTF8Proc
import Glibc

/// Unicode properties and forms, from libutf8proc (Foundation would bring 50 MB of ICU along).
enum UnicodeText {
    enum Form {
        /// NFC.
        case canonical
        /// NFKC without ignorable characters.
        case compatibility

        var options: UInt32 {
            let common = UTF8PROC_COMPOSE.rawValue | UTF8PROC_STABLE.rawValue
            return switch self {
            case .canonical: common
            case .compatibility: common | UTF8PROC_COMPAT.rawValue | UTF8PROC_IGNORE.rawValue
            }
        }
    }

    /// - Returns: `nil` only when the library runs out of memory.
    static func normalized(_ text: String, _ form: Form) -> String? {
        var result: UnsafeMutablePointer<UInt8>?
        let bytes = Array(text.utf8)
        let count = utf8proc_map(bytes, bytes.count, &result, utf8proc_option_t(rawValue: form.options))
        defer { free(result) }
        guard count >= 0, let result else { return nil }
        return String(decoding: UnsafeBufferPointer(start: result, count: count), as: UTF8.self)
    }

    static func lowered(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        Unicode.Scalar(UInt32(bitPattern: utf8proc_tolower(Int32(bitPattern: scalar.value)))) ?? scalar
    }

    /// Controls, line and paragraph separators, and format characters: bidi controls, joiners, tags, soft hyphens.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch utf8proc_category(Int32(bitPattern: scalar.value)) {
        case UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_ZL, UTF8PROC_CATEGORY_ZP: true
        case UTF8PROC_CATEGORY_CF: !isVisibleFormat(scalar)
        default: isIgnorable(scalar)
        }
    }

    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        utf8proc_category(Int32(bitPattern: scalar.value)) == UTF8PROC_CATEGORY_ZS
    }

    /// Terminal cells of one scalar, taken alone: 0, 1 or 2.
    static func width(_ scalar: Unicode.Scalar) -> Int {
        let value = Int32(bitPattern: scalar.value)
        let width = Int(utf8proc_charwidth(value))
        guard width == 0 else { return width }
        // What the tables do not know yet is drawn as a box.
        let category = utf8proc_category(value)
        return category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CO ? 1 : 0
    }

    /// Signs that are drawn around the digits after them, though Unicode calls them format characters.
    private static func isVisibleFormat(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD: true
        default: false
        }
    }

    /// Letters and marks that are never drawn: Hangul fillers, the invisible Khmer vowels, noncharacters.
    private static func isIgnorable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0x034F, 0xFDD0...0xFDEF: true
        case 0xE0000...0xE0FFF: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
    }
}
