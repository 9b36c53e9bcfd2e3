import HaulCore
package import HaulDisk
import HaulPlatform

/// `haul inspect`: what an unfinished file holds, and what of it a next run could use.
package enum InspectCommand {
    static func run(_ paths: [String], json: Bool, console: Console) async -> Int32 {
        guard !paths.isEmpty else {
            let error = HaulError(.usage, "there is no file to inspect", advice: "haul inspect NAME.part")
            console.error(Messages.error(error) + "\n")
            return ExitStatus.usage
        }
        var status = ExitStatus.done
        var problem: Int32 = 0
        for (number, path) in paths.enumerated() {
            let outcome = await BlockingThread.run { inspect(path) }
            switch outcome {
            case .success(let report):
                let text = json ? self.json(report).text + "\n" : (number > 0 ? "\n" : "") + self.text(report)
                let written = console.output(text)
                problem = problem == 0 ? written : problem
            case .failure(let error):
                console.error(Messages.error(error) + "\n")
                if status == ExitStatus.done { status = ExitStatus.of(error.code) }
            }
        }
        return console.concluded(status, outputProblem: problem)
    }

    private static func inspect(_ path: String) -> Result<PartialReport, HaulError> {
        do throws(SystemFailure) {
            return .success(try PartialInspector.inspect(path: path, system: LiveSystem()))
        } catch {
            guard error.code == 2 else { return .failure(SmallFile.failure("read", path, error.code)) }
            return .failure(
                HaulError(
                    .partialGone, "there is no unfinished download \(path)",
                    advice: "name the file that ends in .part"))
        }
    }

    /// For people; ends with a line end.
    package static func text(_ report: PartialReport) -> String {
        var rows: [(String, String)] = [("partial file", report.path)]
        if let name = report.finalName { rows.append(("becomes", name)) }
        rows.append(("length", report.length.map(size) ?? "unknown"))
        rows.append(("on disk", report.size.map(size) ?? "nothing: the partial file is gone"))
        let usable = share(report.usable.count, of: report.length)
        let durable = share(report.durable.count, of: report.length)
        rows.append(("usable now", usable + "; the next run goes on from there"))
        rows.append(("durable", durable + "; so much would survive a power cut"))
        rows.append(
            (
                "ranges",
                report.hasRanges
                    ? "the server gives them, so the download can be resumed"
                    : "not seen so far; without them the next run starts anew"
            ))
        rows.append(("validator", validator(report.validator)))
        if let type = report.mediaType { rows.append(("type", type)) }
        rows.append(("sources", "\(report.sources.count)"))
        rows.append(
            (
                "journal",
                report.damage.map(\.description)
                    ?? (report.isTorn ? "its last record was cut off, and is ignored" : "whole")
            ))
        let owner = report.owner.map { "process \($0)" }
        rows.append(("in use", report.isBusy ? "yes, by \(owner ?? "a process")" : "no"))
        return rows.map { name, value in
            "\(name):" + String(repeating: " ", count: 14 - name.count) + DisplayText.safe(value) + "\n"
        }.joined()
    }

    package static func json(_ report: PartialReport) -> JSONValue {
        let ranges = { (set: RangeSet) in
            JSONValue.array(set.ranges.map { .array([.integer($0.lower), .integer($0.upper)]) })
        }
        return .object([
            .init("path", .string(report.path)),
            .init("final_name", .optional(report.finalName, JSONValue.string)),
            .init("length", .optional(report.length, JSONValue.integer)),
            .init("size", .optional(report.size, JSONValue.integer)),
            .init("usable", ranges(report.usable)), .init("durable", ranges(report.durable)),
            .init("has_ranges", .bool(report.hasRanges)),
            .init("etag", .optional(report.validator.etag) { .string(($0.isWeak ? "W/" : "") + $0.opaque) }),
            .init("last_modified", .optional(report.validator.lastModified, JSONValue.integer)),
            .init("media_type", .optional(report.mediaType, JSONValue.string)),
            .init("sources", .array(report.sources.map { .string($0.hex) })),
            .init("damage", .optional(report.damage) { .string($0.description) }),
            .init("torn", .bool(report.isTorn)), .init("busy", .bool(report.isBusy)),
            .init("owner", .optional(report.owner) { .integer(Int64($0)) }),
        ])
    }

    private static func size(_ bytes: Int64) -> String { "\(Figures.size(bytes)) (\(bytes) bytes)" }

    private static func share(_ bytes: Int64, of total: Int64?) -> String {
        let percent = Figures.percent(bytes, of: total).map { ", \($0)%" } ?? ""
        return Figures.size(bytes) + percent
    }

    private static func validator(_ validator: Validator) -> String {
        if let etag = validator.etag { return (etag.isWeak ? "weak " : "") + etag.opaque }
        guard let seconds = validator.lastModified else { return "none" }
        let strength = validator.lastModifiedIsStrong ? "" : ", weak"
        return "modified \(HTTPDate.imfFixdate(seconds))\(strength)"
    }
}
