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

    static let sourceAttribute = "user.haul.source"
    static let validatorAttribute = "user.haul.validator"
    static let stampAttribute = "user.haul.file"

    /// Puts the attributes on the file.
    ///
    /// Size and modification time go with them: once either is another, somebody changed the file, and it is no
    /// longer what came from there.
    func write(to file: Descriptor, status: FileStatus, system: any SystemCalls) throws(SystemFailure) {
        let hex = sources.map(\.hex).joined(separator: " ")
        try system.setAttribute(Self.sourceAttribute, Array(hex.utf8), on: file)
        try system.setAttribute(Self.validatorAttribute, Array(Self.text(validator).utf8), on: file)
        try system.setAttribute(Self.stampAttribute, Array(Self.stamp(status).utf8), on: file)
    }

    /// The origin of an open file; `nil` when it has none, or was changed since.
    static func read(from file: Descriptor, status: FileStatus, system: any SystemCalls) throws(SystemFailure)
        -> FileOrigin?
    {
        guard let hex = try system.attribute(sourceAttribute, of: file),
            let validator = try system.attribute(validatorAttribute, of: file),
            let stamp = try system.attribute(stampAttribute, of: file),
            stamp == Array(Self.stamp(status).utf8)
        else { return nil }
        let sources = String(decoding: hex, as: UTF8.self).split(separator: " ").compactMap {
            SourceDigest(hex: $0)
        }
        guard !sources.isEmpty else { return nil }
        return FileOrigin(
            sources: sources, validator: Self.validator(String(decoding: validator, as: UTF8.self)))
    }

    private static func stamp(_ status: FileStatus) -> String { "\(status.size) \(status.modified)" }

    /// One line each: the entity tag as a header has it; `@`, seconds since 1970 and `!` if strong.
    static func text(_ validator: Validator) -> String {
        var lines: [String] = []
        if let tag = validator.etag { lines.append((tag.isWeak ? "W/" : "") + tag.opaque) }
        if let time = validator.lastModified {
            lines.append("@\(time)" + (validator.lastModifiedIsStrong ? "!" : ""))
        }
        return lines.joined(separator: "\n")
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
