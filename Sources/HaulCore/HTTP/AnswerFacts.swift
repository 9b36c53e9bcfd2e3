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
        let pathName = String(
            decoding: PercentCoding.decoded(urlPath.prefix { $0 != "?" }.utf8), as: UTF8.self)
        codings = try ContentCoding.toUndo(
            fields.values("Content-Encoding"), names: [pathName, dispositionName ?? ""], mediaType: mediaType)
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

    /// RFC 9112 §6.3: chunked wins over a length; several lengths must be one and the same.
    private static func contentLength(_ fields: HeaderFields) throws(Refusal) -> Int64? {
        let transferCodings = fields.values("Transfer-Encoding").joined(separator: ",").split(separator: ",")
        if transferCodings.contains(where: { !["", "identity"].contains(ASCII.lowered(ASCII.trimmed($0))) }) {
            return nil
        }
        var length: Int64?
        for value in fields.values("Content-Length") {
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
        guard let value = fields["Content-Type"] else { return nil }
        let type = ASCII.lowered(ASCII.trimmed(value.prefix { $0 != ";" && $0 != "," }))
        return type.contains("/") ? type : nil
    }
}
