/// A validator as `ETag` gives it (RFC 9110 §8.8.3); `opaque` includes the quotes.
package struct EntityTag: Hashable, Sendable {
    package var opaque: String
    package var isWeak: Bool

    package init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }
}

/// What says that two answers speak of the same bytes.
package struct Validator: Hashable, Sendable {
    package var etag: EntityTag?
    /// `Last-Modified`, seconds since 1970.
    package var lastModified: Int64?
    /// Whether `lastModified` is strong by RFC 9110 §8.8.2.2: at least 60 s older than the answer's `Date`.
    package var lastModifiedIsStrong: Bool

    package init(etag: EntityTag? = nil, lastModified: Int64? = nil, lastModifiedIsStrong: Bool = false) {
        self.etag = etag
        self.lastModified = lastModified
        self.lastModifiedIsStrong = lastModifiedIsStrong
    }
}

/// What the first good answer taught about the thing to fetch.
package struct RemoteFile: Hashable, Sendable {
    /// Bytes of the whole file, when known.
    package var length: Int64?
    /// A range request was answered with a good 206 (or: FTP/SFTP, which resume by offset).
    package var hasRanges: Bool
    package var validator: Validator
    /// Media type without parameters, lower case.
    package var mediaType: String?
    /// Content codings that Haul must undo, outermost first; empty for identity or when the coding is the file's own.
    package var codings: [String]
    /// The file name that `Content-Disposition` gave, decoded but not yet made safe.
    package var dispositionName: String?
    /// Digests of the whole representation, from `Repr-Digest` or a 200's `Content-Digest`: (algorithm, bytes).
    package var digests: [ChecksumValue]

    package init(
        length: Int64? = nil, hasRanges: Bool = false, validator: Validator = Validator(),
        mediaType: String? = nil, codings: [String] = [], dispositionName: String? = nil,
        digests: [ChecksumValue] = []
    ) {
        self.length = length
        self.hasRanges = hasRanges
        self.validator = validator
        self.mediaType = mediaType
        self.codings = codings
        self.dispositionName = dispositionName
        self.digests = digests
    }
}
