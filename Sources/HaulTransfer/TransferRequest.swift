package import HaulCore
package import HaulPlatform

/// One request on the wire, complete: the transfer thread adds nothing of its own.
package struct TransferRequest: Sendable {
    /// Where the bytes of the answer go.
    package enum Delivery: Sendable {
        /// A body that is whole within `limit` bytes comes with the outcome; of a larger one the head is reported, and
        /// the transfer waits for `TransferCommand.proceed`.
        case probe(limit: Int)
        /// To the sink, up to `end` (exclusive).
        case segment(any ByteSink, end: Int64)
        /// With the outcome.
        case sample
    }

    /// HTTP authentication that libcurl carries out; bearer tokens travel as header fields.
    package enum Scheme: Hashable, Sendable {
        /// Not known yet what the server wants: ask without, then answer its challenge.
        case negotiate
        case basic
        case digest
    }

    package var id: TransferID
    package var url: URLReference
    package var method: String?
    package var body: [UInt8]?
    /// All fields to send, `Range` included; `Cookie` goes into `cookieHeader`.
    package var headers: [HeaderField] = []
    package var cookieHeader: String?
    /// Lines of a Netscape cookie file: the download's jar.
    package var cookies: [String] = []
    package var credentials: Credentials?
    package var scheme = Scheme.negotiate
    /// `provider:service…` as CURLOPT_AWS_SIGV4 has it; `credentials` are the key pair.
    package var awsSigV4: String?
    @Boxed package var connection = ConnectionOptions()
    /// A connection of its own over HTTP/1.1; else HTTP/2 is welcome and connections are shared.
    package var usesOwnConnection = false
    package var expectation: Expectation
    package var delivery: Delivery
    /// File offset that is byte 0 of the sink (`--range`).
    package var baseOffset: Int64 = 0
    /// Transfers of one download share its rate limit.
    package var group: DownloadID

    package init(
        id: TransferID, url: URLReference, expectation: Expectation, delivery: Delivery, group: DownloadID
    ) {
        self.id = id
        self.url = url
        self.expectation = expectation
        self.delivery = delivery
        self.group = group
    }
}

/// What the engine asks of the transfer thread.
///
/// Carried out in order.
package enum TransferCommand: Sendable {
    indirect case start(TransferRequest)
    /// A probe whose head was reported may write: the name is claimed. With `end`, no farther than that.
    case proceed(TransferID, any ByteSink)
    /// Moves the end of a segment; answered by `.endMoved`.
    case moveEnd(TransferID, to: Int64)
    /// Ends a transfer; answered by `.finished` with `.cancelled`, or with what had ended it before.
    case cancel(TransferID)
    /// Bytes a second of a download; `nil`: no limit.
    case limit(DownloadID, Int64?)
    /// Bytes a second of all; `nil`: no limit.
    case limitAll(Int64?)
    /// Connections that libcurl may open to one host.
    case hostConnections(Int)
}

/// What the transfer thread tells.
///
/// Batches keep the order.
package enum TransferEvent: Sendable {
    /// The head of a probe was accepted, and its body is not whole yet.
    indirect case head(TransferID, BodyPlan, ResponseHead)
    /// The first byte of an accepted body arrived.
    case delivering(TransferID)
    /// These bytes are in the sink, and committed there.
    case committed(TransferID, ByteRange)
    /// The answer to `moveEnd`: where the transfer will end now.
    case endMoved(TransferID, Int64)
    indirect case finished(TransferID, TransferReport)
}

/// How a transfer ended, and what it taught.
package struct TransferReport: Sendable {
    package enum Outcome: Sendable {
        /// The body, or the part of it that was wanted, is in the sink. `isWhole`: the server's own end was reached.
        case completed(isWhole: Bool)
        /// The whole small body of a probe.
        case whole([UInt8], BodyPlan)
        case sampled([UInt8], BodyPlan)
        /// Anything but a body.
        case verdict(Verdict)
        case failed(TransferFailure)
        case sinkFailed(SystemFailure)
        case cancelled
    }

    package var outcome: Outcome
    package var head: ResponseHead?
    /// Bytes of the body that came over the network.
    package var received: Int64 = 0
    /// It ran over HTTP/2.
    package var isHTTP2 = false
    /// What the server's 401 offered, if it sent one.
    package var offeredScheme: TransferRequest.Scheme?
    /// The jar after this transfer, when it differs from the request's.
    package var cookies: [String]?
    /// Seconds from the start to the first byte of the answer.
    package var firstByte: Double = 0
    /// Seconds from sending the request to the first byte of the answer, connecting left out.
    package var response: Double = 0
    /// The first bytes of an error's body.
    package var excerpt: [UInt8] = []

    package init(outcome: Outcome) {
        self.outcome = outcome
    }
}
