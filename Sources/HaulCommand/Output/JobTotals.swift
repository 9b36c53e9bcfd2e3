import HaulCore
import HaulEngine

/// How far several downloads are together, in bytes.
struct JobTotals: Hashable, Sendable {
    /// Bytes that are here: of the finished files, and of those that run.
    let received: Int64
    /// Bytes of all files whose length is known by now.
    let known: Int64
    /// The length of every file that is still to come is known.
    let isComplete: Bool
    /// 0...1.
    let fraction: Double
    /// Bytes a second.
    let rate: Double
    /// Seconds; as long as lengths are missing, with the mean of the known ones in their place.
    let remaining: Double?
    let connections: Int

    /// `running`: the downloads that run now.
    init(_ running: [DownloadSample], _ tally: Tally) {
        let here = running.reduce(Int64(0)) { JobTotals.sum($0, $1.received) }
        let lengths = running.compactMap { sample in sample.total.map { max($0, sample.received) } }
        received = JobTotals.sum(tally.finishedBytes, here)
        // What comes without a length counts with what came of it.
        let open = running.filter { $0.total == nil }.reduce(Int64(0)) { JobTotals.sum($0, $1.received) }
        known = lengths.reduce(JobTotals.sum(tally.finishedBytes, open), JobTotals.sum)
        rate = running.reduce(0) { $0 + ($1.rate.isFinite ? max(0, $1.rate) : 0) }
        connections = running.reduce(0) { $0 + $1.connections }

        let files = max(0, tally.total - tally.failed)
        let measured = tally.finished + lengths.count
        isComplete = measured >= files
        let expected =
            measured > 0 && !isComplete
            ? max(Double(known), Double(known - open) / Double(measured) * Double(files)) : Double(known)
        let isKnown = measured > 0 || isComplete
        let share = expected > 0 ? Double(received) / expected : isComplete ? 1 : 0
        fraction = isKnown ? max(0, min(1, share)) : 0
        remaining = isKnown && rate >= 1 ? max(0, expected - Double(received)) / rate : nil
    }

    /// What servers say of lengths may be anything.
    private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflows) = max(0, one).addingReportingOverflow(max(0, other))
        return overflows ? .max : sum
    }
}
