/// Dates of HTTP (RFC 9110 §5.6.7), as whole seconds since 1970 in UTC.
package enum HTTPDate {
    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads an IMF-fixdate, an RFC 850 date or asctime's form; `nil` for anything else, impossible days included.
    package static func seconds(_ text: String) -> Int64? { seconds(Array(text.utf8)) }

    static func seconds(_ bytes: [UInt8]) -> Int64? {
        imfFixdate(parsing: bytes) ?? anyForm(String(decoding: bytes, as: UTF8.self))
    }

    /// The one form that servers should send, read by its columns: this runs for every answer.
    private static func imfFixdate(parsing bytes: [UInt8]) -> Int64? {
        bytes.withUnsafeBufferPointer { bytes -> Int64? in
            guard bytes.count == 29, bytes[3] == UInt8(ascii: ","), bytes[26] == UInt8(ascii: "G"),
                bytes[27] == UInt8(ascii: "M"), bytes[28] == UInt8(ascii: "T"),
                bytes[19] == UInt8(ascii: ":"),
                bytes[22] == UInt8(ascii: ":"),
                [4, 7, 11, 16, 25].allSatisfy({ bytes[$0] == ASCII.space })
            else { return nil }
            func digits(_ from: Int, _ count: Int) -> Int64? {
                var number: Int64 = 0
                for byte in bytes[from..<(from + count)] {
                    guard ASCII.isDigit(byte) else { return nil }
                    number = number * 10 + Int64(byte - 0x30)
                }
                return number
            }
            let name = bytes[8..<11]
            guard
                let month = months.firstIndex(where: { $0.utf8.elementsEqual(name) }).map({ Int64($0 + 1) }),
                let day = digits(5, 2), let year = digits(12, 4), let hour = digits(17, 2),
                let minute = digits(20, 2), let second = digits(23, 2), year >= 1900, hour < 24, minute < 60,
                second <= 60, day >= 1, day <= length(ofMonth: month, year: year)
            else { return nil }
            return days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        }
    }

    private static func anyForm(_ text: String) -> Int64? {
        var words = text.split { " ,-\t".contains($0) }.map { ASCII.lowered($0) }
        if let first = words.first, isWeekday(first) { words.removeFirst() }
        guard words.count == 5 || words.count == 4 else { return nil }
        if let zone = words.last, ["gmt", "utc", "ut", "z", "+0000"].contains(zone) {
            words.removeLast()
        } else if month(words[0]) == nil {
            return nil
        }
        guard words.count == 4 else { return nil }
        if let month = month(words[0]) {
            return seconds(year: words[3], month: month, day: words[1], time: words[2])
        }
        guard let month = month(words[1]) else { return nil }
        return seconds(year: words[2], month: month, day: words[0], time: words[3])
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, as `If-Modified-Since` and `If-Range` want it.
    package static func imfFixdate(_ seconds: Int64) -> String {
        let (days, rest) = floorDivide(min(max(seconds, -62_135_596_800), 253_402_300_799), 86_400)
        let (year, month, day) = civil(fromDays: days)
        let weekday = weekdays[Int(floorDivide(days + 3, 7).remainder)]
        let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        let years = String(repeating: "0", count: 4 - String(year).count) + String(year)
        return "\(weekday), \(two(day)) \(months[Int(month - 1)]) \(years) \(time) GMT"
    }

    private static func seconds(year: String, month: Int64, day: String, time: String) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(day.utf8.count), clock.count == 3, clock.allSatisfy({ $0.utf8.count == 2 }),
            let year = fullYear(year), let day = ASCII.number(day), let hour = ASCII.number(clock[0]),
            let minute = ASCII.number(clock[1]), let second = ASCII.number(clock[2]),
            hour < 24, minute < 60, second <= 60, day >= 1, day <= length(ofMonth: month, year: year)
        else { return nil }
        return days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Two digits mean 1970 to 2069: a pure function cannot ask for today, which RFC 9110 would use as the pivot.
    private static func fullYear(_ text: String) -> Int64? {
        guard let year = ASCII.number(text) else { return nil }
        return switch text.utf8.count {
        case 2: year < 70 ? year + 2000 : year + 1900
        case 4 where year >= 1900: year
        default: nil
        }
    }

    private static func isWeekday(_ word: String) -> Bool {
        let full = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        return full.contains(word) || weekdays.contains { ASCII.lowered($0) == word }
    }

    private static func month(_ word: String) -> Int64? {
        months.firstIndex { ASCII.lowered($0) == word }.map { Int64($0 + 1) }
    }

    private static func length(ofMonth month: Int64, year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func floorDivide(_ number: Int64, _ by: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = (number % by + by) % by
        return ((number - remainder) / by, remainder)
    }

    /// Days from 1970-01-01, counted in 400-year eras whose years begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floorDivide(shifted, 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = (monthFromMarch + 2) % 12 + 1
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }
}
