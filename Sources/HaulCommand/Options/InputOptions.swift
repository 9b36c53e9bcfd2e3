import HaulCore
import HaulEngine

extension OptionTable {
    /// What to fetch, and what it must be.
    static let input: [OptionDefinition] = [
        OptionDefinition(
            "input-file", "i", "FILE", in: .input, .command, "read URLs from FILE; - is standard input",
            manual: """
                One URL a line; several separated by tabs are mirrors of one file. Options of one download follow the URL \
                ('URL out=name checksum=sha256:...') or stand on indented lines below it ('  out=name'). Lines that start \
                with # are comments. The whole list is checked before anything starts.
                """,
            completion: .file, isSetting: false
        ) { (configuration, input) throws(HaulError) in
            configuration.inputFile = try input.nonEmpty()
        },
        .flag(
            "glob", in: .input, .command, "expand [1-100], [a-z], [1-9:2] and {a,b} in URLs",
            manual: """
                [001-100] keeps the leading zeros. A backslash takes the next character as it is. At most a million URLs.
                """
        ) { $0.usesGlob = $1 },
        OptionDefinition(
            "mirror", nil, "URL", in: .input, .command, "another source of the same file (repeatable)",
            manual: """
                Only with one URL. Bytes of two sources are joined only where the total and a strong validator agree, or a \
                checksum decides. A mirror that does not deliver is left out, with a notice that says why.
                """,
            secret: .url, isSetting: false
        ) { (configuration, input) throws(HaulError) in
            configuration.mirrors.append(try MirrorSyntax.check(input))
        },
        OptionDefinition(
            "checksum", nil, "ALGO:HEX", in: .input, .download, "what the file must be (repeatable)",
            manual: """
                sha-512, sha-256, sha-1 or md5, a colon and the digest in hexadecimal. A download that differs is fetched once \
                more from the start, from another source where there is one: a line may have garbled it. If it differs again \
                it is not published, and the exit status is 9.
                """,
            isSetting: false, commands: [.get, .verify]
        ) { (configuration, input) throws(HaulError) in
            configuration.download.checksums.append(try ChecksumSyntax.parse(input))
        },
        OptionDefinition(
            "checksums", nil, "FILE|URL", in: .input, .command, "take checksums from a SHA256SUMS list",
            manual: """
                Written by sha256sum and the like, or in the BSD format. Every URL must have an entry of its name in the \
                list. A URL is fetched first; credentials go with it only to the origin they were given for. To mend a \
                directory in which files may be damaged, add --if-exists replace.
                """,
            secret: .url, completion: .file, isSetting: false, commands: [.get, .verify],
            summaries: [.verify: "the list: verify its files, or those named"]
        ) { (configuration, input) throws(HaulError) in
            configuration.checksumLists.append(try input.nonEmpty())
        },
    ]
}

/// The value of `--mirror`.
enum MirrorSyntax {
    static func check(_ input: OptionInput) throws(HaulError) -> String {
        guard input.text.contains("://") else {
            throw HaulError(
                .usage, "\(input.label): the value is not a URL",
                advice: "write the scheme, such as https://host/file")
        }
        do throws(HaulError) {
            _ = try URLReference(parsing: input.text)
        } catch {
            let reason = error.message.prefix(1).lowercased() + error.message.dropFirst()
            throw HaulError(error.code, "\(input.label): \(reason)", advice: error.advice)
        }
        return input.text
    }
}

/// The value of `--checksum`.
enum ChecksumSyntax {
    static func parse(_ input: OptionInput) throws(HaulError) -> ChecksumValue {
        // aria2 writes sha-256=HEX.
        let bytes = input.text.utf8
        let mark = bytes.firstIndex { $0 == 0x3A || $0 == 0x3D } ?? bytes.endIndex
        let known = algorithm(bytes[..<mark])
        let digits = bytes[mark...].dropFirst()
        if let known, let digest = decoded(digits),
            let value = ChecksumValue(known, bytes: digest)
        {
            return value
        }
        if let known {
            throw input.bad("a checksum: \(known.rawValue) has \(known.length * 2) hexadecimal digits")
        }
        let names = ChecksumAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
        throw input.bad("a checksum: give ALGO:HEX with one of \(names)")
    }

    /// The bytes of the digits; made for lists of a million lines.
    private static func decoded(_ digits: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case 0x30...0x39: value = digit - 0x30
            case 0x41...0x46, 0x61...0x66: value = (digit | 0x20) - 0x61 + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    /// `sha-256` and `SHA256` are the same.
    private static func algorithm(_ name: Substring.UTF8View) -> ChecksumAlgorithm? {
        ChecksumAlgorithm.allCases.first { algorithm in
            let letters = name.lazy.filter { $0 != 0x2D }.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
            return letters.elementsEqual(algorithm.rawValue.utf8.lazy.filter { $0 != 0x2D })
        }
    }
}
