import HaulCore

/// Sizes, rates and times as people write them.
extension OptionInput {
    /// Bytes: `10M`, `1.5GiB`, `500kB`.
    ///
    /// K, M, G, T and KiB … are powers of 1024, kB, MB … powers of 1000.
    func size(_ range: ClosedRange<Int64>) throws(HaulError) -> Int64 {
        try bytes(of: Substring(text), range, wanted: "a size such as 500K, 10M or 1.5GiB")
    }

    /// Bytes a second: a size, with or without `/s`; 0 is `nil`, no limit.
    func rate() throws(HaulError) -> Int64? {
        var number = Substring(text)
        for suffix in ["/s", "/S"] where number.hasSuffix(suffix) { number.removeLast(2) }
        let rate = try bytes(of: number, 0...1 << 50, wanted: "a rate such as 500K or 2.5M (bytes a second)")
        return rate == 0 ? nil : rate
    }

    /// Seconds: `30`, `1.5`, `500ms`, `2m`, `1h`, `7d`.
    func seconds(_ range: ClosedRange<Double>) throws(HaulError) -> Double {
        let units: [(String, Double)] = [
            ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400), ("", 1),
        ]
        for (suffix, factor) in units where text.hasSuffix(suffix) {
            guard let number = Quantity.decimal(text.dropLast(suffix.count)) else { continue }
            let seconds = number * factor
            guard range.contains(seconds) else {
                let limits = "\(Quantity.plain(range.lowerBound)) to \(Quantity.plain(range.upperBound))"
                throw outOfRange("from \(limits) seconds")
            }
            return seconds
        }
        throw bad("a time such as 30 or 1.5 (seconds), 500ms, 2m, 1h or 7d")
    }

    private func bytes(
        of text: Substring, _ range: ClosedRange<Int64>, wanted: String
    ) throws(HaulError) -> Int64 {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let factor = Quantity.factor(text.dropFirst(digits.count)),
            let number = Quantity.decimal(digits)
        else { throw bad(wanted) }
        guard number == 0 || number * factor >= 1 else { throw outOfRange("it is less than one byte") }
        let bytes = (number * factor).rounded()
        guard bytes >= Double(range.lowerBound), bytes <= Double(range.upperBound) else {
            throw outOfRange(
                "from \(Quantity.short(range.lowerBound)) to \(Quantity.short(range.upperBound))")
        }
        return Int64(bytes)
    }
}

/// The arithmetic of quantities.
enum Quantity {
    /// Digits with at most one point; no sign, no exponent, no `inf`.
    static func decimal(_ text: Substring) -> Double? {
        let points = text.utf8.count { $0 == 0x2E }
        guard points <= 1, text.utf8.count > points, text.utf8.count <= 20 else { return nil }
        guard text.utf8.allSatisfy({ $0 == 0x2E || ($0 >= 0x30 && $0 <= 0x39) }) else { return nil }
        return Double(text.hasPrefix(".") ? "0\(text)" : text.hasSuffix(".") ? "\(text)0" : String(text))
    }

    static func factor(_ unit: Substring) -> Double? {
        let unit = unit.lowercased()
        if unit.isEmpty || unit == "b" { return 1 }
        let powers: [Character: Int] = ["k": 1, "m": 2, "g": 3, "t": 4]
        guard let first = unit.first, let power = powers[first] else { return nil }
        switch unit.dropFirst() {
        case "", "i", "ib": return raised(1024, to: power)
        case "b": return raised(1000, to: power)
        default: return nil
        }
    }

    private static func raised(_ base: Double, to exponent: Int) -> Double {
        (0..<exponent).reduce(1) { product, _ in product * base }
    }

    /// A size of the help, such as `64K`; the exact number where no unit fits.
    static func short(_ bytes: Int64) -> String {
        for (unit, shift) in [("T", 40), ("G", 30), ("M", 20), ("K", 10)] where bytes >= 1 << Int64(shift) {
            if bytes.isMultiple(of: 1 << Int64(shift)) { return "\(bytes >> Int64(shift))\(unit)" }
        }
        return String(bytes)
    }

    /// A number without a needless `.0`.
    static func plain(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }
}
