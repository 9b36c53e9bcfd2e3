import HaulCore
import HaulDisk
import HaulPlatform

/// Whether a file that has the wanted name already makes the download unnecessary.
///
/// Blocking.
struct TakenName: Sendable {
    let policy: ExistingFilePolicy
    /// Source and validator of what is about to come; `nil`: not to be compared.
    let known: FileOrigin?

    /// The path of the file that makes it unnecessary; `nil`: go on.
    ///
    /// - Throws: `.nameTaken` under the policy `fail`.
    func existing(_ name: String, in directory: TargetDirectory) throws(PartialFailure) -> String? {
        guard policy == .skip || policy == .fail || known != nil else { return nil }
        let found = Result { () throws(SystemFailure) in try directory.existing(name) }
        switch found {
        case .failure(let failure): throw .system(failure)
        case .success(let existing):
            guard let existing, existing.kind != .directory else { return nil }
            let path = directory.path(of: name)
            if policy == .fail { throw .nameTaken(path: path) }
            return policy == .skip || isSame(existing) ? path : nil
        }
    }

    private func isSame(_ existing: ExistingFile) -> Bool {
        guard let known, let origin = existing.origin else { return false }
        return origin.validator == known.validator && known.sources.contains(where: origin.sources.contains)
    }
}
