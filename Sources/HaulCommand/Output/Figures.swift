/// Numbers as people read them.
///
/// What is not a number, or negative, never comes out.
package enum Figures {
    private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// Three figures and a unit: `0 B`, `1.50 KiB`, `12.3 MiB`, `512 GiB`.
    package static func size(_ bytes: Int64) -> String {
        let unit = unit(of: bytes)
        return "\(number(bytes, unit: unit)) \(units[unit])"
    }

    /// What came of a total, in the total's unit: `0.45/2.60 GiB`.
    package static func amount(_ bytes: Int64, of total: Int64) -> String {
        let unit = unit(of: max(bytes, total))
        return "\(number(bytes, unit: unit))/\(number(total, unit: unit)) \(units[unit])"
    }

    /// Bytes a second.
    package static func rate(_ rate: Double) -> String {
        size(rate.isFinite && rate > 0 ? Int64(min(rate, 9e18)) : 0) + "/s"
    }

    /// Whole percent, rounded down, 0 to 100; `nil` without a total.
    ///
    /// Nothing of nothing is all of it.
    package static func percent(_ bytes: Int64, of total: Int64?) -> Int? {
        guard let total else { return nil }
        guard total > 0 else { return 100 }
        return max(0, min(100, Int(Double(bytes) / Double(total) * 100)))
    }

    /// Time to the end, as on a clock: `0:07`, `12:34`, `1:02:03`, `23h 59m`, `4d 07h`; `--:--` when unknown.
    package static func remaining(_ seconds: Double?) -> String {
        guard let seconds, seconds.isFinite, seconds >= 0, seconds < 86400 * 1000 else { return "--:--" }
        let total = Int(seconds.rounded(.up))
        let (hours, minutes) = (total / 3600, total / 60 % 60)
        switch hours {
        case 0: return "\(minutes):\(padded(total % 60))"
        case ..<10: return "\(hours):\(padded(minutes)):\(padded(total % 60))"
        case ..<24: return "\(hours)h \(padded(minutes))m"
        default: return "\(hours / 24)d \(padded(hours % 24))h"
        }
    }

    /// Time that passed: `0.4 s`, `42 s`, `12:34`.
    package static func elapsed(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0 else { return "0.0 s" }
        if seconds < 9.95 {
            let tenths = Int((seconds * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) s"
        }
        return seconds < 59.5 ? "\(Int(seconds.rounded())) s" : remaining(seconds.rounded())
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

    /// The unit in which the number has at most four figures before the point, after rounding.
    private static func unit(of bytes: Int64) -> Int {
        var unit = 0
        var value = Double(max(bytes, 0))
        while value >= (unit == 0 ? 1024 : 1023.5), unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit
    }

    private static func number(_ bytes: Int64, unit: Int) -> String {
        guard unit > 0 else { return String(max(bytes, 0)) }
        let value = Double(max(bytes, 0)) / Double(Int64(1) << Int64(unit * 10))
        if value < 9.995 { return decimals(value, 100) }
        return value < 99.95 ? decimals(value, 10) : String(Int(value.rounded()))
    }

    private static func decimals(_ value: Double, _ scale: Int) -> String {
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: String(scale).count - 1 - fraction.count)
        return "\(scaled / scale).\(zeros)\(fraction)"
    }
}
