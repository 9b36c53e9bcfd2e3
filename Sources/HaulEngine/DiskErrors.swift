import Glibc
import HaulCore
import HaulDisk
import HaulPlatform

/// Failures of the disk in words for a person.
enum DiskErrors {
    static func error(_ failure: PartialFailure) -> HaulError {
        switch failure {
        case .busy(let pid):
            HaulError(
                .partialBusy,
                "another download is writing that file" + (pid.map { " (process \($0))" } ?? ""),
                advice: "wait for it with --wait, or choose another name with --output")
        case .nameTaken(let path):
            HaulError(
                .fileExists, "\(path) exists already",
                advice: "choose another name with --output, or see --if-exists")
        case .noSpace(let needed, let free):
            HaulError(
                .diskFull,
                "the disk is full: \(ByteText.size(needed)) are needed, \(ByteText.size(free)) are free",
                advice: "make room and run the same command again")
        case .tooLarge(let limit):
            HaulError(
                .fileTooLarge, "no file there may be larger than \(ByteText.size(limit))",
                advice: "choose another file system with --dir")
        case .removedUnderUs(let path):
            HaulError(
                .partialGone, "\(path) was removed, replaced or cut while it was being written",
                advice: "run again")
        case .isDirectory(let path):
            HaulError(.fileExists, "\(path) is a directory", advice: "choose another name with --output")
        case .badName(let name):
            HaulError(.badName, "\(name) cannot be a file name", advice: "give one with --output")
        case .incomplete(let have, let length):
            HaulError(.truncated, "only \(have) of \(length) bytes are on disk", advice: "run again")
        case .system(let failure): error(failure)
        }
    }

    static func error(_ failure: SystemFailure) -> HaulError {
        let message = failure.path.isEmpty ? failure.reason : "\(failure.path): \(failure.reason)"
        return switch failure.code {
        case ENOSPC, EDQUOT:
            HaulError(
                .diskFull, "the disk is full: \(message)", advice: "make room and run the same command again")
        case EFBIG:
            HaulError(
                .fileTooLarge, "the file is too large for the file system: \(message)",
                advice: "choose another one with --dir")
        case ESTALE:
            HaulError(
                .partialGone, "\(failure.path) was removed, replaced or cut while it was being written",
                advice: "run again")
        case EROFS:
            HaulError(.readOnly, "cannot write: \(message)", advice: "choose another directory with --dir")
        case EACCES, EPERM:
            HaulError(
                .permissionDenied, "cannot write: \(message)", advice: "choose another directory with --dir")
        case ENAMETOOLONG, EINVAL, EISDIR, ENOTDIR, ELOOP:
            HaulError(.badName, "cannot write there: \(message)", advice: "choose another name with --output")
        case EPIPE:
            HaulError(.interrupted, "nobody reads the output any more")
        default:
            HaulError(.diskFailed, "the disk failed (\(failure.call)): \(message)")
        }
    }
}

/// Sizes as a person reads them.
enum ByteText {
    /// Such as `8.0 MiB`.
    static func size(_ bytes: Int64) -> String {
        var value = Double(max(0, bytes))
        var units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][...]
        while value >= 1024, units.count > 1 {
            value /= 1024
            units.removeFirst()
        }
        let tenths = Int((value * 10).rounded())
        let unit = units.first ?? "B"
        return unit == "B" ? "\(tenths / 10) B" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
