import HaulCore
import HaulTestSupport
import Testing

@Suite("Header fields")
struct FieldTests {
    @Test(
        "the three forms of dates mean the same second",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "sun, 6 nov 1994 08:49:37 gmt", "06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
        ])
    func dates(text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(
        "what is no date is refused",
        arguments: [
            "", "0", "-1", "now", "Sun, 31 Feb 2020 00:00:00 GMT", "Sun, 29 Feb 2021 00:00:00 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 00 Nov 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 94999 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sun, 06 Nov 1750 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:3x GMT",
        ])
    func noDates(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }

    @Test("a formatted date reads back as the same second, over four centuries", arguments: 0..<10)
    func dateRoundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let second = Int64.random(in: -2_208_988_800..<10_413_792_000, using: &random)
            #expect(HTTPDate.seconds(HTTPDate.imfFixdate(second)) == second)
        }
        #expect(HTTPDate.imfFixdate(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.imfFixdate(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
    }

    @Test(
        "Retry-After in seconds or as a date against the server's own clock",
        arguments: [
            ("120", nil, 120), (" 2 ", nil, 2), ("0", nil, 0), ("1.5", nil, 1.5), ("-5", nil, nil),
            ("abc", nil, nil),
            ("", nil, nil), ("1e9", nil, nil), ("5 s", nil, nil), ("inf", nil, nil), ("0x10", nil, nil),
            ("86400", nil, 86400),
            ("99999999999999999999999999", nil, 31_536_000),
            ("Sun, 06 Nov 1994 08:49:41 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 4),
            ("Sunday, 06-Nov-94 08:49:41 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 4),
            ("Sun, 06 Nov 1994 09:49:41 GMT", nil, 3604), ("Sun, 06 Nov 1994 08:49:41 GMT", "junk", 4),
            ("Mon, 01 Jan 2001 00:00:00 GMT", "Tue, 02 Jan 2001 00:00:00 GMT", 0),
            ("Fri, 31 Dec 9999 23:59:59 GMT", nil, 31_536_000),
        ] as [(String, String?, Double?)])
    func retryAfter(value: String, date: String?, expected: Double?) {
        #expect(RetryAfter.seconds(value, date: date, now: 784_111_777) == expected)
    }

    @Test("a Retry-After date without any clock to compare with says nothing")
    func retryAfterWithoutClock() {
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:49:41 GMT", date: nil, now: nil) == nil)
    }

    @Test(
        "Content-Range becomes half-open",
        arguments: [
            ("bytes 0-0/1", .range(ByteRange(0, 1), total: 1)),
            ("bytes 5-9/*", .range(ByteRange(5, 10), total: nil)),
            ("BYTES  5 - 9 / 10", .range(ByteRange(5, 10), total: 10)),
            ("bytes=0-4/9", .range(ByteRange(0, 5), total: 9)),
            ("bytes */7", .unsatisfied(total: 7)), ("bytes */0", .unsatisfied(total: 0)),
            ("bytes 0-9223372036854775805/9223372036854775807", .range(ByteRange(0, .max - 1), total: .max)),
        ] as [(String, ContentRange)])
    func contentRange(text: String, expected: ContentRange) {
        #expect(ContentRange(parsing: text) == expected)
    }

    @Test(
        "a Content-Range that makes no sense is none",
        arguments: [
            "", "bytes", "bytes 0-4", "bytes 4-0/9", "bytes 0-9/9", "bytes 0-4/", "bytes -4/9", "bytes 0-/9",
            "bytes */*",
            "bytes a-b/c", "bytes 0-4/9/9", "items 0-4/9", "0-4/9", "bytes +0-4/9", "bytes 0-4/-9",
            "bytes0-4/9",
            "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*",
            "bytes 0-4/99999999999999999999",
            "bytes 0-4,6-8/9", "bytes 0x0-4/9",
        ])
    func noContentRange(text: String) {
        #expect(ContentRange(parsing: text) == nil)
    }

    @Test("a requested range, answered as asked, reads back as itself", arguments: 0..<10)
    func rangeRoundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let lower = Int64.random(in: 0..<(.max - 2), using: &random)
            let range = ByteRange(lower, Int64.random(in: (lower + 1)..<(.max), using: &random))
            let wire = ContentRange.requestValue(range).replacing("=", with: " ")
            #expect(ContentRange(parsing: wire + "/*") == .range(range, total: nil))
        }
        #expect(ContentRange.requestValue(ByteRange(7, .max)) == "bytes=7-")
        #expect(ContentRange.requestValue(ByteRange(0, 1)) == "bytes=0-0")
    }

    @Test(
        "entity tags are strong, weak or none at all",
        arguments: [
            ("\"a\"", "\"a\"", false), ("W/\"a\"", "\"a\"", true), ("w/\"a\"", "\"a\"", true),
            (" \"a-1:2\" ", "\"a-1:2\"", false),
            ("\"ü\"", "\"ü\"", false), ("a", nil, false), ("\"a", nil, false), ("\"\"", nil, false),
            ("\"a\"b\"", nil, false),
            ("W/a", nil, false), ("\"a b\"", nil, false), ("", nil, false), ("\"", nil, false),
            ("W/\"\"", nil, false),
            ("\"a\u{FFFD}\"", nil, false), ("\"a\"-gzip", nil, false),
        ] as [(String, String?, Bool)])
    func entityTags(text: String, opaque: String?, isWeak: Bool) {
        #expect(EntityTag(parsing: text) == opaque.map { EntityTag(opaque: $0, isWeak: isWeak) })
    }

    @Test("If-Range takes a strong tag, else a Last-Modified a minute older than Date, else nothing")
    func ifRange() {
        let old = ("Last-Modified", "Sun, 06 Nov 1994 08:48:37 GMT")
        let young = ("Last-Modified", "Sun, 06 Nov 1994 08:48:38 GMT")
        let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(validator(("ETag", "\"a\""), old, date).ifRangeValue() == "\"a\"")
        #expect(validator(("ETag", "W/\"a\""), old, date).ifRangeValue() == old.1)
        #expect(validator(("ETag", "W/\"a\""), young, date).ifRangeValue() == nil)
        #expect(validator(old).ifRangeValue() == nil)
        #expect(validator(("ETag", "\"a\""), ("ETag", "\"b\"")).ifRangeValue() == nil)
        #expect(validator(("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT"), date).lastModified == nil)
    }

    private func validator(_ fields: (String, String)...) -> Validator {
        Validator(
            head: ResponseHead(status: 200, fields: HeaderFields(fields.map { HeaderField($0.0, $0.1) })))
    }

    @Test("validators agree by tag first, then by time", arguments: ValidatorTable.rows)
    func agreement(row: ValidatorTable.Row) {
        #expect(row.left.agreement(with: row.right) == row.expected)
        #expect(row.right.agreement(with: row.left) == row.expected)
    }
}

enum ValidatorTable {
    struct Row: Sendable {
        let left: Validator
        let right: Validator
        let expected: Validator.Agreement
    }

    private static func tag(_ text: String, weak: Bool = false, time: Int64? = nil, strong: Bool = false)
        -> Validator
    {
        Validator(
            etag: EntityTag(opaque: text, isWeak: weak), lastModified: time, lastModifiedIsStrong: strong)
    }

    private static func time(_ time: Int64, strong: Bool) -> Validator {
        Validator(lastModified: time, lastModifiedIsStrong: strong)
    }

    static let rows: [Row] = [
        Row(left: tag("\"a\""), right: tag("\"a\""), expected: .same),
        Row(left: tag("\"a\"", time: 1), right: tag("\"a\"", time: 2), expected: .same),
        Row(
            left: tag("\"a\"", time: 1, strong: true), right: tag("\"b\"", time: 1, strong: true),
            expected: .different),
        Row(left: tag("\"a\"", weak: true), right: tag("\"a\"", weak: true), expected: .probablySame),
        Row(left: tag("\"a\"", weak: true), right: tag("\"a\""), expected: .probablySame),
        Row(left: tag("\"a\"", weak: true), right: tag("\"b\"", weak: true), expected: .different),
        Row(
            left: tag("\"a\"", weak: true, time: 1), right: tag("\"a\"", weak: true, time: 2),
            expected: .different),
        Row(left: tag("\"a\"", time: 1, strong: true), right: time(1, strong: true), expected: .probablySame),
        Row(left: tag("\"a\"", time: 1), right: time(2, strong: true), expected: .different),
        Row(left: tag("\"a\""), right: time(2, strong: true), expected: .unknown),
        Row(left: time(1, strong: true), right: time(1, strong: true), expected: .same),
        Row(left: time(1, strong: true), right: time(1, strong: false), expected: .probablySame),
        Row(left: time(1, strong: true), right: time(2, strong: true), expected: .different),
        Row(left: Validator(), right: Validator(), expected: .unknown),
        Row(left: Validator(), right: tag("\"a\""), expected: .unknown),
        // Canonically equivalent text, other bytes.
        Row(left: tag("\"\u{E9}\""), right: tag("\"e\u{301}\""), expected: .different),
    ]
}
