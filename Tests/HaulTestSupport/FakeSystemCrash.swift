import HaulPlatform

/// What is left when it all stops.
extension FakeSystem {
    /// A system with the disk as it may be after a power cut: everything that was synced, and of the rest whatever luck
    /// kept, in sectors of 512 bytes and in any order.
    ///
    /// - Parameters:
    ///   - count: the power goes after so many changes of the log.
    ///   - boot: the boot id of the machine when it is up again.
    ///   - keeping: how likely it is that a change survived that was not synced; 0 keeps none of them.
    ///   - random: decides which.
    /// - Returns: the machine after it is up again.
    package func afterPowerCut(
        at count: Int, boot: UInt8 = 2, keeping: Double, random: inout some RandomNumberGenerator
    ) -> FakeSystem {
        let (start, log) = state.withLock { ($0.start, Array($0.log.prefix(count))) }
        var disk = start
        var synced: [FakeModel.Node: Int] = [:]
        var fullySynced: [FakeModel.Node: Int] = [:]
        for (index, change) in log.enumerated() {
            guard case .sync(let node, let dataOnly) = change else { continue }
            synced[node] = index
            if !dataOnly { fullySynced[node] = index }
        }
        for (index, change) in log.enumerated() {
            let certain = (change.isMetadata ? fullySynced : synced)[change.node] ?? -1
            // A node without its name or its bytes is as good as none, so making it may always be kept.
            if case .make = change {
                disk.apply(change)
            } else if index < certain {
                disk.apply(change)
            } else if Double.random(in: 0..<1, using: &random) < keeping {
                disk.apply(change.torn(&random))
            }
        }
        return FakeSystem(model: disk, boot: boot, process: 200)
    }

    /// A system with everything that was given to it: the process was killed, the machine runs on.
    package func afterKill(at count: Int? = nil) -> FakeSystem {
        let (start, log) = state.withLock { ($0.start, $0.log) }
        var disk = start
        log.prefix(count ?? log.count).forEach { disk.apply($0) }
        return FakeSystem(model: disk, boot: bootID.first ?? 0, process: 200)
    }

    /// The positions in the log just behind each sync.
    package var positionsAfterSyncs: [Int] {
        log.enumerated().compactMap { index, change in
            if case .sync = change { index + 1 } else { nil }
        }
    }
}

extension FakeModel.Change {
    /// A write of which only some sectors reached the disk; other changes are whole or not at all.
    fileprivate func torn(_ random: inout some RandomNumberGenerator) -> FakeModel.Change {
        guard case .write(let node, let offset, let bytes) = self, Bool.random(using: &random) else {
            return self
        }
        // The end of the file grows with the first sector kept; so a piece from anywhere inside is enough.
        let sectors = bytes.count / 512 + 1
        let low = min(bytes.count, Int.random(in: 0..<sectors, using: &random) * 512)
        let high = min(bytes.count, low + Int.random(in: 0...sectors, using: &random) * 512)
        return .write(node, offset: offset + low, bytes: Array(bytes[low..<high]))
    }
}
