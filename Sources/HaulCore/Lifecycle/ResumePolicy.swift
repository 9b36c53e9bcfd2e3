/// What may join bytes of an earlier run with those of this one (`--resume`).
package enum ResumePolicy: String, Hashable, Sendable, CaseIterable {
    /// Only an equal strong validator (or a checksum that will decide).
    case strict
    /// As strict; where no strong validator was ever given, samples of the bytes on disk are compared.
    case overlap
    /// An equal length is enough.
    case length
    /// Every run starts from the first byte.
    case never
}
