/// Something a person may want to know that is neither a state nor a failure.
package enum Notice: Hashable, Sendable {
    /// Bytes of an earlier run are used.
    case resumed(from: Int64)
    /// Nothing of an earlier run could be used, and why.
    case restarted(String)
    /// The server cannot give ranges: one connection, and a later run starts anew.
    case cannotResume
    /// The identity with the earlier run was proved by comparing samples only.
    case identityBySample
    /// The server gave no length and no checksum was given: completeness cannot be verified.
    case lengthUnknown
    /// Anything else, as a sentence.
    case warning(String)
}
