import HaulCore
import HaulDisk
import HaulEngine
import HaulPlatform

/// `haul verify`: reads files and compares them with checksums.
package struct VerifyCommand<Engine: DownloadEngine>: Sendable {
    /// A file and everything it must be.
    private struct Item: Sendable {
        let path: String
        let checksums: [ChecksumValue]
    }

    private let context: CommandContext<Engine>

    package init(_ context: CommandContext<Engine>) { self.context = context }

    private var configuration: GetConfiguration { context.configuration }
    private var operands: [String] { context.operands }
    private var world: World { context.world }

    /// - Returns: 0 when every file is what it should be, else the status of the first one that is not.
    package func run() async -> Int32 {
        do throws(HaulError) {
            return await verify(try items(try await lists()))
        } catch {
            return context.report(error)
        }
    }

    private func lists() async throws(HaulError) -> [SpecFactory.NamedList] {
        var lists: [SpecFactory.NamedList] = []
        for name in configuration.checksumLists {
            lists.append(try await ChecksumLoader.isURL(name) ? fetched(name) : ChecksumLoader.file(name))
        }
        return lists
    }

    private func fetched(_ url: String) async throws(HaulError) -> SpecFactory.NamedList {
        var session = try context.session(nil)
        do throws(HaulError) {
            let list = try await context.fetchList(url, for: url, session: &session)
            await session.close(because: HaulError(.cancelled, "everything was done"))
            return list
        } catch {
            await session.close(because: error)
            throw error
        }
    }

    private func items(_ lists: [SpecFactory.NamedList]) throws(HaulError) -> [Item] {
        let fixed = configuration.download.checksums
        guard !lists.isEmpty || !fixed.isEmpty else {
            throw HaulError(
                .usage, "there is nothing to compare with",
                advice: "haul verify FILE --checksum sha256:HEX, or haul verify --checksums SHA256SUMS")
        }
        guard operands.isEmpty else {
            var items: [Item] = []
            for path in operands {
                var checksums = fixed
                for named in lists { checksums += try named.list.values(for: path, file: named.name) }
                items.append(Item(path: self.path(path), checksums: checksums))
            }
            return items
        }
        guard fixed.isEmpty else {
            throw HaulError(.usage, "there is no file to verify", advice: "haul verify FILE")
        }
        return try listed(lists)
    }

    /// All files of the lists, in their order.
    private func listed(_ lists: [SpecFactory.NamedList]) throws(HaulError) -> [Item] {
        var order: [String] = []
        var checksums: [String: [ChecksumValue]] = [:]
        for named in lists {
            for entry in named.list.entries {
                guard !entry.name.isEmpty else {
                    throw HaulError(
                        .usage, "\(named.name) names no file",
                        advice: "haul verify FILE --checksums \(named.name)")
                }
                if checksums[entry.name] == nil { order.append(entry.name) }
                checksums[entry.name, default: []].append(entry.value)
            }
        }
        return order.map { Item(path: path($0), checksums: checksums[$0] ?? []) }
    }

    private func path(_ name: String) -> String {
        guard let directory = configuration.directory, !name.hasPrefix("/") else { return name }
        return "\(directory)/\(name)"
    }

    private func verify(_ items: [Item]) async -> Int32 {
        var first: HaulError.Code?
        var failed = 0
        var problem: Int32 = 0
        for item in items {
            let error = await BlockingThread.run { VerifyCommand.check(item) }
            if let error {
                failed += 1
                first = first ?? error.code
            }
            let written = report(item, error)
            problem = problem == 0 ? written : problem
        }
        let status = world.console.concluded(
            first.map(ExitStatus.of) ?? ExitStatus.done, outputProblem: problem)
        if configuration.writesJSON {
            let summary = EventJSON.summary(
                total: items.count, finished: items.count - failed, failed: failed, status: status)
            _ = world.console.output(summary.text + "\n")
        } else if failed > 0, items.count > 1 {
            world.console.error("haul: \(failed) of \(items.count) files are not what they should be\n")
        }
        return status
    }

    /// - Returns: 0, or the error number where standard output could not be written.
    private func report(_ item: Item, _ error: HaulError?) -> Int32 {
        if configuration.writesJSON {
            return world.console.output(EventJSON.verified(item.path, item.checksums, error).text + "\n")
        }
        if let error {
            world.console.error(Messages.error(error) + "\n")
            return 0
        }
        return configuration.isQuiet ? 0 : world.console.output("\(DisplayText.safe(item.path)): OK\n")
    }

    private static func check(_ item: Item) -> HaulError? {
        do throws(SystemFailure) {
            let algorithms = Set(item.checksums.map(\.algorithm))
            let found = try FileDigest.compute(path: item.path, algorithms: algorithms, system: LiveSystem())
            for wanted in item.checksums where !found.contains(wanted) {
                let other = found.first { $0.algorithm == wanted.algorithm }?.hex ?? "unknown"
                return HaulError(
                    .checksumMismatch,
                    "\(item.path): \(wanted.algorithm.rawValue) is \(other) and should be \(wanted.hex)")
            }
            return nil
        } catch {
            return SmallFile.failure("read", item.path, error.code)
        }
    }
}
