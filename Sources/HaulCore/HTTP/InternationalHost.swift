/// Host names beyond ASCII become punycode here, because libcurl's own conversion depends on the locale.
///
/// The mapping is that of UTS 46, non-transitional, as far as case and compatibility forms go: `ß` and `ς` stay.
enum InternationalHost {
    /// The name as DNS knows it; names in ASCII come back as they are.
    ///
    /// - Returns: `nil` when a label cannot be one.
    static func ascii(_ host: String) -> String? {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }) else { return host }
        guard let once = mapped(host), let text = mapped(once) else { return nil }
        var labels: [String] = []
        for label in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard !label.isEmpty || labels.count == text.count(where: { $0 == "." }) else { return nil }
            guard let name = encoded(label), name.utf8.count <= 63 else { return nil }
            labels.append(name)
        }
        return labels.joined(separator: ".")
    }

    private static func mapped(_ text: String) -> String? {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isDot = [0x3002, 0xFF0E, 0xFF61].contains(scalar.value)
            scalars.append(isDot ? "." : UnicodeText.lowered(scalar))
        }
        return UnicodeText.normalized(String(scalars), .compatibility)
    }

    private static func encoded(_ label: Substring) -> String? {
        if label.utf8.allSatisfy({ $0 < 0x80 }) { return String(label) }
        return Punycode.encoded(label.unicodeScalars.map(\.value)).map { "xn--" + $0 }
    }
}

/// RFC 3492, the encoding half.
enum Punycode {
    private static let base: UInt32 = 36
    private static let lowest: UInt32 = 1
    private static let highest: UInt32 = 26

    /// - Returns: `nil` when the numbers overflow, which no name of 63 bytes makes them do.
    static func encoded(_ input: [UInt32]) -> String? {
        let basic = input.filter { $0 < 0x80 }
        var output = basic.map { UInt8($0) }
        if !basic.isEmpty { output.append(UInt8(ascii: "-")) }
        var (limit, delta, bias): (UInt32, UInt32, UInt32) = (0x80, 0, 72)
        var handled = UInt32(basic.count)
        while handled < input.count {
            guard let next = input.filter({ $0 >= limit }).min() else { return nil }
            let (step, overflow) = (next - limit).multipliedReportingOverflow(by: handled + 1)
            guard !overflow, delta.addingReportingOverflow(step).overflow == false else { return nil }
            delta += step
            limit = next
            for value in input {
                if value < limit { delta += 1 }
                guard value == limit else { continue }
                output += digits(of: delta, bias: bias)
                bias = adapted(delta, points: handled + 1, isFirst: handled == UInt32(basic.count))
                delta = 0
                handled += 1
            }
            delta += 1
            limit += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func digits(of delta: UInt32, bias: UInt32) -> [UInt8] {
        var result: [UInt8] = []
        var rest = delta
        var position = base
        while true {
            let threshold = position <= bias ? lowest : min(max(position - bias, lowest), highest)
            guard rest >= threshold else { break }
            result.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        return result + [digit(rest)]
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)
    }

    private static func adapted(_ delta: UInt32, points: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / points
        var bias: UInt32 = 0
        while rest > (base - lowest) * highest / 2 {
            rest /= base - lowest
            bias += base
        }
        return bias + (base - lowest + 1) * rest / (rest + 38)
    }
}
