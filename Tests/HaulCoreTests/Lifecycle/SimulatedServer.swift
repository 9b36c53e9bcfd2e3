import HaulCore
import HaulTestSupport

/// One server that has a file, some version of it, and manners of its own.
struct SimulatedServer {
    enum Tag: CaseIterable { case strong, weak, none, perNode }
    enum Time: CaseIterable { case strong, weak, none }
    enum Refusal: CaseIterable { case throttle, forbid, reset }

    /// Lengths by version; versions share no byte.
    var lengths: [Int64]
    var version = 0
    var tag = Tag.strong
    var time = Time.strong
    /// Mirrors of one file may have tags of their own.
    var tagPrefix = "v"
    var hasRanges = true
    /// Answers 200 to every `If-Range`.
    var refusesIfRange = false
    var knowsLength = true
    /// Only so many bytes a 206.
    var cap: Int64?
    var maximumConnections: Int?
    var extraRefusal = Refusal.throttle
    /// 403 to every range but `bytes=0-`.
    var forbidsOffsets = false
    var redirects = 0
    /// A redirected link lives for so many requests.
    var linkLife: Int?
    var expiredStatus = 403
    /// The URL that was given is itself such a link.
    var givenExpires = false
    var isDead = false
    var isMissing = false
    /// Another than 0: its bytes are those of another file.
    var contentBase = 0
    /// Bytes a second of each connection.
    var rate = 4.0 * 1024 * 1024
    var latency = 0.02
    /// Faults that are still to come, and how likely each request meets one.
    var faults = 0
    var faultProbability = 0.3
    /// Versions that it will have, at what request.
    var changesAt: [Int] = []

    private(set) var requests = 0
    private var node = 0
    private var uses: [String: Int] = [:]
    private var links = 0

    init(lengths: [Int64]) {
        self.lengths = lengths
    }

    var length: Int64 { lengths[version] }
    /// What its bytes are told apart by.
    var content: Int { contentBase + version }

    struct Body {
        /// Offsets in the remote file.
        var range: ByteRange
        var content: Int
        /// The connection breaks or falls silent here.
        var breaksAt: Int64?
        var stalls = false
    }

    enum Reply {
        case failure(Failure)
        case answer(ResponseHead, Body?)
    }

    mutating func reply(to work: TransferWork, open: Int, using random: inout SeededGenerator) -> Reply {
        requests += 1
        if let next = changesAt.first, requests >= next {
            changesAt.removeFirst()
            version = min(version + 1, lengths.count - 1)
        }
        if isDead { return .failure(connectionFailure(.connectFailed)) }
        if isMissing { return status(404) }
        if let maximumConnections, open > maximumConnections { return tooMany() }
        if let reply = link(work) { return reply }
        if forbidsOffsets, let range = work.range, range != ByteRange(0, .max) { return status(403) }
        guard faults > 0, Double.random(in: 0..<1, using: &random) < faultProbability else {
            return answer(work)
        }
        faults -= 1
        return fault(work, using: &random)
    }

    private mutating func fault(_ work: TransferWork, using random: inout SeededGenerator) -> Reply {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .failure(connectionFailure(.connectionLost))
        case 1: return status(500)
        case 2: return status(503, ("Retry-After", "2"))
        case 3: return status(429)
        case 4: return wrongPart(work)
        case 5: return whole()
        default:
            guard case .answer(let head, var body?) = answer(work), !body.range.isEmpty else {
                return answer(work)
            }
            body.breaksAt = Int64.random(in: body.range.lower..<body.range.upper, using: &random)
            body.stalls = Bool.random(using: &random)
            return .answer(head, body)
        }
    }

    private func tooMany() -> Reply {
        switch extraRefusal {
        case .throttle: status(503)
        case .forbid: status(403)
        case .reset: .failure(connectionFailure(.connectionLost))
        }
    }

    /// `/file` is what was given, `/hop/N` a step on the way, `/link/N` a temporary link, `/fresh/N` a renewed one.
    private mutating func link(_ work: TransferWork) -> Reply? {
        let path = work.url.path
        let isLink = path.hasPrefix("/link/") || path.hasPrefix("/fresh/") || givenExpires && path == "/file"
        if let linkLife, isLink {
            uses[path, default: 0] += 1
            if (uses[path] ?? 0) > linkLife { return status(expiredStatus) }
        }
        guard redirects > 0, !path.hasPrefix("/link/"), !path.hasPrefix("/fresh/") else { return nil }
        let hop = path.hasPrefix("/hop/") ? Int(path.dropFirst(5)) ?? 0 : 0
        if hop + 1 < redirects { return redirect("/hop/\(hop + 1)") }
        links += 1
        return redirect("/link/\(links)")
    }

    private func redirect(_ place: String) -> Reply {
        .answer(head(302, [("Location", place)]), nil)
    }

    private func status(_ code: Int, _ fields: (String, String)...) -> Reply {
        .answer(head(code, fields), nil)
    }

    private mutating func answer(_ work: TransferWork) -> Reply {
        node += 1
        if let condition = work.condition, condition.agreement(with: validator()) == .same {
            return .answer(head(304, validators()), nil)
        }
        guard hasRanges, let asked = work.range else { return whole() }
        if let ifRange = work.ifRange, refusesIfRange || ifRange != validator().ifRangeValue() {
            return whole()
        }
        guard asked.lower < length else {
            return .answer(head(416, [("Content-Range", "bytes */\(length)")] + validators()), nil)
        }
        let upper = min(asked.upper, length, cap.map { asked.lower + $0 } ?? .max)
        return part(ByteRange(asked.lower, upper), body: ByteRange(asked.lower, upper))
    }

    private func part(_ range: ByteRange, body: ByteRange) -> Reply {
        let total = knowsLength ? String(length) : "*"
        let fields = [
            ("Content-Range", "bytes \(range.lower)-\(range.upper - 1)/\(total)"),
            ("Content-Length", String(range.count)),
        ]
        return .answer(head(206, fields + validators()), Body(range: body, content: content))
    }

    private func whole() -> Reply {
        let fields = knowsLength ? [("Content-Length", String(length))] : [("Transfer-Encoding", "chunked")]
        return .answer(head(200, fields + validators()), Body(range: ByteRange(0, length), content: content))
    }

    /// A 206 of bytes that nobody asked for.
    private func wrongPart(_ work: TransferWork) -> Reply {
        let lower = (work.range?.lower ?? 0) + 1000
        guard hasRanges, lower < length else { return status(500) }
        let range = ByteRange(lower, length)
        return part(range, body: range)
    }

    private func connectionFailure(_ code: HaulError.Code) -> Failure {
        Failure(.connection, HaulError(code, "the server is not there"))
    }

    // MARK: Fields

    private static let now: Int64 = 784_111_777

    private func validator() -> Validator { Validator(head: head(200, validators())) }

    private func validators() -> [(String, String)] {
        var fields = [("Date", HTTPDate.imfFixdate(SimulatedServer.now))]
        switch tag {
        case .strong: fields.append(("ETag", "\"\(tagPrefix)\(version)\""))
        case .weak: fields.append(("ETag", "W/\"\(tagPrefix)\(version)\""))
        case .perNode: fields.append(("ETag", "\"\(tagPrefix)node\(node % 3)\""))
        case .none: break
        }
        switch time {
        case .strong:
            fields.append(("Last-Modified", HTTPDate.imfFixdate(SimulatedServer.now - 1000 - Int64(version))))
        case .weak:
            fields.append(("Last-Modified", HTTPDate.imfFixdate(SimulatedServer.now - 5 - Int64(version))))
        case .none: break
        }
        return fields
    }

    /// Whether two versions can be told apart by what it says.
    var showsChanges: Bool { tag == .strong || tag == .weak || tag == .none && time != .none }

    private func head(_ status: Int, _ fields: [(String, String)]) -> ResponseHead {
        ResponseHead(status: status, fields: HeaderFields(fields.map { HeaderField($0.0, $0.1) }))
    }
}
