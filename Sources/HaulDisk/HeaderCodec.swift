import HaulCore

/// The payload of a header record: fields of tag, length and value; unknown tags are passed over.
enum HeaderCodec {
    private enum Tag {
        static let source: UInt8 = 1
        static let finalName: UInt8 = 2
        static let length: UInt8 = 3
        static let ranges: UInt8 = 4
        static let strongTag: UInt8 = 5
        static let weakTag: UInt8 = 6
        static let lastModified: UInt8 = 7
        static let strongLastModified: UInt8 = 8
        static let mediaType: UInt8 = 9
        static let coding: UInt8 = 10
    }

    static func encode(_ header: JournalHeader) -> [UInt8] {
        var out = ByteWriter()
        func field(_ tag: UInt8, _ value: [UInt8]) {
            out.put(tag)
            out.put(UInt16(clamping: value.count))
            out.bytes += value.prefix(Int(UInt16.max))
        }
        func number(_ tag: UInt8, _ value: Int64) {
            var bytes = ByteWriter()
            bytes.put(value)
            field(tag, bytes.bytes)
        }
        header.sources.forEach { field(Tag.source, $0.bytes) }
        field(Tag.finalName, Array(header.finalName.utf8))
        if let length = header.file.length { number(Tag.length, length) }
        if header.file.hasRanges { field(Tag.ranges, []) }
        let validator = header.file.validator
        if let tag = validator.etag {
            field(tag.isWeak ? Tag.weakTag : Tag.strongTag, Array(tag.opaque.utf8))
        }
        if let time = validator.lastModified {
            number(validator.lastModifiedIsStrong ? Tag.strongLastModified : Tag.lastModified, time)
        }
        if let type = header.file.mediaType { field(Tag.mediaType, Array(type.utf8)) }
        header.file.codings.forEach { field(Tag.coding, Array($0.utf8)) }
        return out.bytes
    }

    /// - Returns: `nil` when the fields do not fill the payload exactly or a value is impossible.
    static func decode(_ payload: ArraySlice<UInt8>) -> JournalHeader? {
        var header = JournalHeader(sources: [], file: RemoteFile(), finalName: "")
        var reader = ByteReader(payload)
        while !reader.rest.isEmpty {
            guard let tag = reader.take(UInt8.self), let count = reader.take(UInt16.self),
                let value = reader.take(Int(count)), apply(tag, value, to: &header)
            else { return nil }
        }
        return DiskName.isPlain(header.finalName) ? header : nil
    }

    private static func apply(_ tag: UInt8, _ value: ArraySlice<UInt8>, to header: inout JournalHeader)
        -> Bool
    {
        let text = String(decoding: value, as: UTF8.self)
        switch tag {
        case Tag.source:
            guard let digest = SourceDigest(bytes: value) else { return false }
            header.sources.append(digest)
        case Tag.finalName: header.finalName = text
        case Tag.length:
            guard let length = number(value), length >= 0 else { return false }
            header.file.length = length
        case Tag.ranges: header.file.hasRanges = true
        case Tag.strongTag, Tag.weakTag:
            header.file.validator.etag = EntityTag(opaque: text, isWeak: tag == Tag.weakTag)
        case Tag.lastModified, Tag.strongLastModified:
            guard let time = number(value) else { return false }
            header.file.validator.lastModified = time
            header.file.validator.lastModifiedIsStrong = tag == Tag.strongLastModified
        case Tag.mediaType: header.file.mediaType = text
        case Tag.coding: header.file.codings.append(text)
        default: break
        }
        return true
    }

    private static func number(_ value: ArraySlice<UInt8>) -> Int64? {
        var reader = ByteReader(value)
        return value.count == 8 ? reader.take(Int64.self) : nil
    }
}
