extension EntityTag {
    /// Reads `"x"` or `W/"x"` (RFC 9110 §8.8.3).
    /// - Returns: `nil` when malformed, or empty between the quotes: such a tag tells nothing apart.
    package init?(parsing value: String) {
        let text = ASCII.trimmed(value)
        let isWeak = text.hasPrefix("W/") || text.hasPrefix("w/")
        let opaque = isWeak ? text.dropFirst(2) : text[...]
        let bytes = opaque.utf8
        guard bytes.count > 2, bytes.first == ASCII.quote, bytes.last == ASCII.quote else { return nil }
        // U+FFFD stands for bytes that were not UTF-8: two such tags could look alike.
        let inner = bytes.dropFirst().dropLast()
        guard inner.allSatisfy({ $0 > 0x20 && $0 != ASCII.quote && $0 != 0x7F }),
            inner.allSatisfy({ $0 < 0x80 }) || !opaque.unicodeScalars.contains("\u{FFFD}")
        else { return nil }
        self.init(opaque: String(opaque), isWeak: isWeak)
    }

    /// Compares bytes: Swift's `==` on strings takes canonically equivalent text for the same.
    fileprivate func hasSameOpaque(as other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }
}

extension Validator {
    /// How two validators stand to each other.
    package enum Agreement: Hashable, Sendable {
        /// Byte for byte the same, by a strong comparison.
        case same
        /// Nothing differs, but what agrees is weak.
        case probablySame
        case different
        /// They have nothing in common to compare.
        case unknown
    }

    /// What a head says; several differing `ETag` fields count as none.
    package init(head: ResponseHead) {
        let tags = head.fields.values("ETag")
        let isOne = tags.allSatisfy { $0.utf8.elementsEqual((tags.first ?? "").utf8) }
        self.init(etag: isOne ? tags.first.flatMap { EntityTag(parsing: $0) } : nil)
        // 1970 and before is what servers without a clock or a file send.
        guard let modified = head.fields["Last-Modified"].flatMap(HTTPDate.seconds), modified > 0 else {
            return
        }
        lastModified = modified
        if let date = head.fields["Date"].flatMap(HTTPDate.seconds) {
            lastModifiedIsStrong = date - modified >= 60
        }
    }

    /// The value for `If-Range`: only strong validators may stand there (RFC 9110 §13.1.5).
    package func ifRangeValue() -> String? {
        if let etag, !etag.isWeak { return etag.opaque }
        return lastModifiedIsStrong ? lastModified.map(HTTPDate.imfFixdate) : nil
    }

    /// Compares entity tags where both have one, else modification times.
    package func agreement(with other: Validator) -> Agreement {
        let times = timeAgreement(with: other)
        guard let mine = etag, let its = other.etag else {
            return etag == nil && other.etag == nil ? times : times.weakened
        }
        guard mine.hasSameOpaque(as: its) else { return .different }
        if !mine.isWeak && !its.isWeak { return .same }
        return times == .different ? .different : .probablySame
    }

    private func timeAgreement(with other: Validator) -> Agreement {
        guard let mine = lastModified, let its = other.lastModified else { return .unknown }
        guard mine == its else { return .different }
        return lastModifiedIsStrong && other.lastModifiedIsStrong ? .same : .probablySame
    }
}

extension Validator.Agreement {
    /// A tag that came or went leaves doubt, even where the times are strong.
    fileprivate var weakened: Self { self == .same ? .probablySame : self }
}
