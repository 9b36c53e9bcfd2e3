package import HaulCore
import HaulPlatform

/// Where a finished file came from, as its extended attributes tell: digests and validator, never a URL.
package struct FileOrigin: Hashable, Sendable {
    package var sources: [SourceDigest]
    package var validator: Validator

    package init(sources: [SourceDigest], validator: Validator) {
        self.sources = sources
        self.validator = validator
    }

    /// One attribute for everything: each costs a system call a file.
    static let attribute = "user.haul.origin"

    /// Puts the attribute on the file.
    ///
    /// Size and modification time go with it: once either is another, somebody changed the file, and it is no
    /// longer what came from there.
    func write(to file: Descriptor, status: FileStatus, system: any SystemCalls) throws(SystemFailure) {
        // Put together by hand: this is done for every file of a long list.
        var text = Self.stamp(status)
        text.reserveCapacity(text.utf8.count + sources.count * 65 + 64)
        text += "\n"
        for (index, source) in sources.enumerated() {
            if index > 0 { text += " " }
            text += source.hex
        }
        text += "\n"
        text += Self.text(validator)
        try system.setAttribute(Self.attribute, Array(text.utf8), on: file)
    }

    /// The origin of an open file; `nil` when it has none, or was changed since.
    static func read(from file: Descriptor, status: FileStatus, system: any SystemCalls) throws(SystemFailure)
        -> FileOrigin?
    {
        guard let bytes = try system.attribute(attribute, of: file) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count == 3, lines[0] == Self.stamp(status) else { return nil }
        let sources = lines[1].split(separator: " ").compactMap { SourceDigest(hex: $0) }
        guard !sources.isEmpty else { return nil }
        return FileOrigin(sources: sources, validator: Self.validator(String(lines[2])))
    }

    private static func stamp(_ status: FileStatus) -> String {
        String(status.size) + " " + String(status.modified)
    }

    /// One line each: the entity tag as a header has it; `@`, seconds since 1970 and `!` if strong.
    static func text(_ validator: Validator) -> String {
        var text = ""
        if let tag = validator.etag {
            if tag.isWeak { text += "W/" }
            text += tag.opaque
        }
        if let time = validator.lastModified {
            text += text.isEmpty ? "@" : "\n@"
            text += String(time)
            if validator.lastModifiedIsStrong { text += "!" }
        }
        return text
    }

    static func validator(_ text: String) -> Validator {
        var validator = Validator()
        for line in text.split(separator: "\n") {
            if line.hasPrefix("@") {
                validator.lastModifiedIsStrong = line.hasSuffix("!")
                validator.lastModified = Int64(line.dropFirst().prefix { $0 != "!" })
            } else {
                let isWeak = line.hasPrefix("W/")
                validator.etag = EntityTag(opaque: String(isWeak ? line.dropFirst(2) : line), isWeak: isWeak)
            }
        }
        return validator
    }
}
