/// What a head with a body says about that body, read once and strictly.
struct AnswerFacts {
    /// Bytes on the wire; `nil` when the framing alone tells the end.
    let wireLength: Int64?
    let codings: [String]
    let validator: Validator
    let mediaType: String?
    let dispositionName: String?
    private let fields: HeaderFields

    /// - Throws: `.malformed` when a length or coding field is one that no honest answer has.
    init(_ head: ResponseHead, urlPath: String) throws(Refusal) {
        fields = head.fields
        wireLength = try AnswerFacts.contentLength(fields)
        validator = Validator(head: head)
        mediaType = AnswerFacts.mediaType(fields)
        dispositionName = fields.first("Content-Disposition").flatMap { ContentDisposition.fileName($0) }
        codings = try AnswerFacts.codings(
            fields, urlPath: urlPath, dispositionName: dispositionName, mediaType: mediaType)
    }

    func file(length: Int64?, hasRanges: Bool, isWhole: Bool) -> RemoteFile {
        // Both cover the coded bytes, so they say nothing about a file that is decoded first.
        let covered = codings.isEmpty ? ["Repr-Digest"] + (isWhole ? ["Content-Digest"] : []) : []
        return RemoteFile(
            length: length, hasRanges: hasRanges, validator: validator, mediaType: mediaType,
            codings: codings,
            dispositionName: dispositionName,
            digests: DigestFields.values(covered.flatMap { fields.values($0) }))
    }

    private static func codings(
        _ fields: HeaderFields, urlPath: String, dispositionName: String?, mediaType: String?
    ) throws(Refusal) -> [String] {
        let values = fields.values("Content-Encoding")
        guard !values.isEmpty else { return [] }
        let path = PercentCoding.decoded(urlPath.utf8.prefix { $0 != UInt8(ascii: "?") })
        let names = [String(decoding: path, as: UTF8.self), dispositionName ?? ""]
        return try ContentCoding.toUndo(values, names: names, mediaType: mediaType)
    }

    /// RFC 9112 §6.3: chunked wins over a length; several lengths must be one and the same.
    private static func contentLength(_ fields: HeaderFields) throws(Refusal) -> Int64? {
        for codings in fields.values("Transfer-Encoding") {
            let names = codings.split(separator: ",").map { ASCII.lowered(ASCII.trimmed($0)) }
            guard names.allSatisfy({ ["", "identity"].contains($0) }) else { return nil }
        }
        var length: Int64?
        for value in fields.values("Content-Length") {
            // The usual case, in which nothing has to be taken apart.
            if length == nil, let number = ASCII.number(value) {
                length = number
                continue
            }
            for item in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let number = ASCII.number(ASCII.trimmed(item)) else {
                    throw .malformed(
                        "Content-Length \(DisplayText.safe(String(item.prefix(40)))) is not a length")
                }
                guard length == nil || length == number else {
                    throw .malformed("two Content-Lengths differ")
                }
                length = number
            }
        }
        return length
    }

    private static func mediaType(_ fields: HeaderFields) -> String? {
        guard let value = fields.first("Content-Type")?.bytes else { return nil }
        let type = value.prefix { $0 != ASCII.semicolon && $0 != UInt8(ascii: ",") }
        guard type.contains(ASCII.slash) else { return nil }
        return String(decoding: ASCII.trimmed(type).map { ASCII.lowered($0) }, as: UTF8.self)
    }
}
