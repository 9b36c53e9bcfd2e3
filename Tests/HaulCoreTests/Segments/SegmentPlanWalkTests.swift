import HaulCore
import HaulTestSupport
import Testing

/// A plan beside a naive model: one cell a byte.
private struct PlanModel {
    enum Cell: Equatable { case missing, done, owned(TransferID) }

    var plan: SegmentPlan
    var cells: [Cell]
    var random: SeededGenerator
    var owners: [TransferID] = []
    private var last: UInt64 = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let length = Int.random(in: 0...400, using: &random)
        var done = RangeSet()
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let lower = Int64.random(in: 0...400, using: &random)
            done.insert(ByteRange(lower, lower + Int64.random(in: 0...60, using: &random)))
        }
        plan = SegmentPlan(length: Int64(length), done: done)
        cells = Array(repeating: .missing, count: length)
        reload()
    }

    /// A crash: only what is done is left.
    mutating func reload() {
        plan = SegmentPlan(length: plan.length, done: plan.done)
        owners = []
        for index in cells.indices { cells[index] = .missing }
        mark(plan.done.ranges, .done)
    }

    mutating func mark(_ ranges: [ByteRange], _ cell: Cell) {
        for range in ranges { for index in range.lower..<range.upper { cells[Int(index)] = cell } }
    }

    mutating func claim() {
        last += 1
        let id = TransferID(last)
        let isLimited = Bool.random(using: &random)
        let range = plan.claim(
            id, share: Int.random(in: 1...5, using: &random),
            minimum: Int64.random(in: 1...50, using: &random),
            limit: isLimited ? Int64.random(in: 1...80, using: &random) : nil)
        guard let range else {
            #expect(!cells.contains(.missing), "a claim fails only when nothing is missing")
            return
        }
        #expect(!range.isEmpty)
        #expect((range.lower..<range.upper).allSatisfy { cells[Int($0)] == .missing }, "only what is missing")
        mark([range], .owned(id))
        owners.append(id)
    }

    mutating func commit() {
        guard let id = owners.randomElement(using: &random), let segment = plan.segment(of: id) else {
            return
        }
        let end = Int64.random(in: segment.position...segment.range.upper, using: &random)
        let range = ByteRange(segment.position, end)
        let isCommitted = plan.commit(range, by: id)
        #expect(isCommitted)
        mark([range], .done)
    }

    mutating func commitBeside() {
        let before = plan
        let lower = Int64.random(in: 0...420, using: &random)
        let range = ByteRange(lower, lower + Int64.random(in: 1...50, using: &random))
        let id = owners.randomElement(using: &random) ?? TransferID(999_999)
        let continues = plan.segment(of: id).map {
            $0.position == range.lower && range.upper <= $0.range.upper
        }
        if continues == true { return }
        let isCommitted = plan.commit(range, by: id)
        #expect(!isCommitted)
        #expect(plan == before)
    }

    mutating func release() {
        guard let index = owners.indices.randomElement(using: &random) else { return }
        let id = owners.remove(at: index)
        plan.release(id)
        for cell in cells.indices where cells[cell] == .owned(id) { cells[cell] = .missing }
    }

    mutating func shrink() {
        guard let id = owners.randomElement(using: &random) else { return }
        let end = Int64.random(in: 0...420, using: &random)
        plan.shrink(id, to: end)
        for cell in cells.indices where cells[cell] == .owned(id) && Int64(cell) >= end {
            cells[cell] = .missing
        }
    }

    mutating func extend() {
        guard let id = owners.randomElement(using: &random), let reach = plan.reach(of: id) else { return }
        let upper = plan.segment(of: id)?.range.upper ?? 0
        let end = Int64.random(in: upper...reach, using: &random)
        plan.extend(id, to: end)
        mark([ByteRange(upper, end)], .owned(id))
    }

    mutating func help() {
        var rates: [TransferID: Double] = [:]
        for id in owners where Bool.random(using: &random) {
            rates[id] = Double.random(in: 0...1000, using: &random)
        }
        let help = plan.help(
            rates: rates,
            thief: Bool.random(using: &random) ? Double.random(in: 0...5000, using: &random) : nil,
            minimum: 20, setUp: Double.random(in: 0...1, using: &random))
        switch help {
        case .steal(let victim, let at):
            let segment = plan.segment(of: victim)
            #expect(
                rates[victim] != nil && (segment.map { $0.position < at && at < $0.range.upper } ?? false))
        case .takeOver(let victim):
            #expect(rates[victim] != nil && (plan.segment(of: victim)?.remaining ?? 0) > 0)
        case nil: break
        }
    }

    func check() {
        let ranges = { (cell: Cell) in Set(cells.indices.filter { cells[$0] == cell }.map(Int64.init)) }
        #expect(Set(plan.done.ranges.flatMap { $0.lower..<$0.upper }) == ranges(.done))
        #expect(Set(plan.missing.flatMap { $0.lower..<$0.upper }) == ranges(.missing))
        #expect(plan.segments.count == owners.count)
        for segment in plan.segments {
            let flight = Set(segment.position..<segment.range.upper)
            #expect(flight == ranges(.owned(segment.owner)), "one owner a byte")
        }
        #expect(plan.isComplete == cells.allSatisfy { $0 == .done })
    }
}

@Suite("SegmentPlan, random walks")
struct SegmentPlanWalkTests {
    @Test(
        "agrees with a model of single bytes after any claim, commit, release and change of ends",
        arguments: 0..<60)
    func walk(seed: UInt64) {
        var model = PlanModel(seed: seed)
        for _ in 0..<120 {
            let done = model.plan.done.count
            switch Int.random(in: 0..<9, using: &model.random) {
            case 0, 1: model.claim()
            case 2, 3: model.commit()
            case 4: model.release()
            case 5: model.shrink()
            case 6: model.extend()
            case 7: model.commitBeside()
            default: model.help()
            }
            #expect(model.plan.done.count >= done, "what is done stays done")
            model.check()
        }
    }

    @Test("stopped after any action and loaded again from what is done, it completes", arguments: 0..<60)
    func crash(seed: UInt64) {
        var model = PlanModel(seed: seed &+ 1000)
        for _ in 0..<5 {
            for _ in 0..<Int.random(in: 0...12, using: &model.random) {
                model.claim()
                model.commit()
                if Bool.random(using: &model.random) { model.shrink() }
            }
            model.reload()
            model.check()
        }
        var steps = 0
        while !model.plan.isComplete, steps < 3000 {
            steps += 1
            if model.owners.count < 4, !model.plan.missing.isEmpty { model.claim() }
            model.commit()
            for id in model.owners where model.plan.segment(of: id)?.remaining == 0 {
                model.plan.release(id)
                model.owners.removeAll { $0 == id }
            }
        }
        model.check()
        #expect(model.plan.isComplete)
    }
}
