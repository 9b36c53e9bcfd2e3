package import HaulCore
package import HaulEngine

/// The lines of `--json` and `--progress json`; docs/events.md tells their fields.
package enum EventJSON {
    typealias Field = JSONValue.Field

    /// Which download a line is about.
    package struct Subject: Hashable, Sendable {
        /// The position of the URL in what was asked, from 1.
        package let index: Int
        /// Redacted.
        package let url: String

        package init(index: Int, url: String) {
            self.index = index
            self.url = url
        }

        var fields: [Field] { [Field("index", .integer(Int64(index))), Field("url", .string(url))] }
    }

    package static func state(_ subject: Subject, _ state: DownloadState) -> JSONValue {
        line("state", subject, [Field("state", .string(name(state)))] + retryFields(state))
    }

    package static func named(_ subject: Subject, path: String) -> JSONValue {
        line("named", subject, [Field("path", .string(path))])
    }

    package static func notice(_ subject: Subject, _ notice: Notice) -> JSONValue {
        switch notice {
        case .resumed(let offset):
            line("notice", subject, [Field("notice", .string("resumed")), Field("from", .integer(offset))])
        case .restarted(let why):
            line("notice", subject, [Field("notice", .string("restarted")), Field("text", .string(why))])
        case .cannotResume: line("notice", subject, [Field("notice", .string("cannot-resume"))])
        case .identityBySample: line("notice", subject, [Field("notice", .string("identity-by-sample"))])
        case .lengthUnknown: line("notice", subject, [Field("notice", .string("length-unknown"))])
        case .warning(let text):
            line("notice", subject, [Field("notice", .string("warning")), Field("text", .string(text))])
        }
    }

    package static func progress(_ subject: Subject, _ sample: DownloadSample) -> JSONValue {
        line(
            "progress", subject,
            [
                Field("state", .string(name(sample.state))), Field("name", .string(sample.name)),
                Field("received", .integer(sample.received)),
                Field("total", .optional(sample.total, JSONValue.integer)),
                Field("rate", .integer(sample.rate.isFinite ? Int64(max(0, min(sample.rate, 9e18))) : 0)),
                Field("remaining", .optional(sample.remaining, JSONValue.number)),
                Field("connections", .integer(Int64(sample.connections))),
            ])
    }

    package static func finished(_ subject: Subject, _ result: DownloadResult) -> JSONValue {
        line(
            "finished", subject,
            [
                Field("path", .optional(result.path, JSONValue.string)),
                Field("length", .integer(result.length)),
                Field("received", .integer(result.received)), Field("seconds", .number(result.seconds)),
                Field("was_there", .bool(result.wasThere)),
                Field("verified", .array(result.verified.map { .string($0.description) })),
            ])
    }

    package static func failed(_ subject: Subject, _ error: HaulError) -> JSONValue {
        line("failed", subject, [Field("error", self.error(error))])
    }

    package static func summary(total: Int, finished: Int, failed: Int, status: Int32) -> JSONValue {
        .object([
            Field("event", .string("summary")), Field("total", .integer(Int64(total))),
            Field("finished", .integer(Int64(finished))), Field("failed", .integer(Int64(failed))),
            Field("exit_status", .integer(Int64(status))),
        ])
    }

    /// What `--dry-run` says of one download.
    package static func planned(_ subject: Subject, _ destination: Destination) -> JSONValue {
        switch destination {
        case .standardOutput: line("planned", subject, [Field("path", .string("-"))])
        case .file(let path): line("planned", subject, [Field("path", .string(path))])
        case .directory(let path): line("planned", subject, [Field("directory", .string(path))])
        }
    }

    /// What `haul verify` says of one file.
    package static func verified(_ path: String, _ checksums: [ChecksumValue], _ error: HaulError?)
        -> JSONValue
    {
        .object([
            Field("event", .string("verified")), Field("path", .string(path)),
            Field("ok", .bool(error == nil)),
            Field("checksums", .array(checksums.map { .string($0.description) })),
            Field("error", .optional(error) { self.error($0) }),
        ])
    }

    package static func error(_ error: HaulError) -> JSONValue {
        .object([
            Field("code", .string(error.code.rawValue)), Field("message", .string(error.message)),
            Field("advice", .optional(error.advice, JSONValue.string)),
            Field("status", .optional(error.status) { .integer(Int64($0)) }),
            Field("retry_after", .optional(error.retryAfter, JSONValue.number)),
        ])
    }

    private static func line(_ event: String, _ subject: Subject, _ fields: [Field]) -> JSONValue {
        .object([Field("event", .string(event))] + subject.fields + fields)
    }

    private static func retryFields(_ state: DownloadState) -> [Field] {
        guard let retry = Retry(state) else { return [] }
        return [
            Field("seconds", .number(retry.seconds)), Field("attempt", .integer(Int64(retry.attempt))),
            Field("attempts", .optional(retry.limit) { .integer(Int64($0)) }),
            Field("error", error(retry.error)),
        ]
    }

    private static func name(_ state: DownloadState) -> String {
        switch state {
        case .queued: "queued"
        case .probing: "probing"
        case .downloading: "downloading"
        case .retrying: "retrying"
        case .verifying: "verifying"
        case .finished: "finished"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}
