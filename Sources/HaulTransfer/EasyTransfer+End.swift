import CCurl
import CHaulShims
import HaulCore
import HaulPlatform

/// How a transfer ended, once libcurl is done with it.
extension EasyTransfer {
    /// The report of a transfer that libcurl says is over.
    func report(_ code: CURLcode, detail: String, now: Instant) -> TransferReport {
        if code == CURLE_OK || verdict == nil && (code == CURLE_WRITE_ERROR || parser.overflowed) {
            judge(now: now)
        }
        commit(now: now)
        var report = TransferReport(outcome: outcome(code, detail: detail))
        report.head = head
        report.received = received
        report.excerpt = excerpt
        EasyResources.readFacts(of: easy, into: &report, request: request)
        if let tls { haul_tls_release(tls) }
        tls = nil
        return report
    }

    private func outcome(_ code: CURLcode, detail: String) -> TransferReport.Outcome {
        if let failure { return failure }
        switch verdict {
        case .body(let plan) where hasReachedEnd:
            return ended(plan, isWhole: plan.length == received)
        case .body(let plan):
            return code == CURLE_OK ? atEnd(plan) : .failed(failure(code, detail, isBody: true))
        case .redirect?, .notModified?, .nothingLeft?, .refused?:
            // What came of the page does not matter, unless the head itself never came whole.
            guard code == CURLE_OK || code == CURLE_WRITE_ERROR || head != nil || parser.overflowed else {
                return .failed(failure(code, detail, isBody: false))
            }
            return .verdict(verdict ?? .notModified)
        case nil:
            return .failed(failure(code, detail, isBody: false))
        }
    }

    /// libcurl is content; the lengths still have to be.
    private func atEnd(_ plan: BodyPlan) -> TransferReport.Outcome {
        if let length = plan.length, received < length {
            return .failed(shortBody("\(received) of \(length) bytes came"))
        }
        if let tls, haul_tls_saw_close_notify(tls) == 0 {
            return .failed(shortBody("the encrypted connection was cut"))
        }
        if let decoder, received > 0, !decoder.isAtEnd {
            return .failed(shortBody("the coded body stops before its end"))
        }
        return ended(plan, isWhole: true)
    }

    private func ended(_ plan: BodyPlan, isWhole: Bool) -> TransferReport.Outcome {
        switch stage {
        case .buffering: .whole(buffer, plan)
        case .sampling: .sampled(buffer, plan)
        default: .completed(isWhole: isWhole)
        }
    }

    private func shortBody(_ detail: String) -> TransferFailure {
        var failure = TransferFailure(code: Int32(CURLE_PARTIAL_FILE.rawValue), detail: detail)
        failure.isTruncated = true
        return failure
    }

    private func failure(_ code: CURLcode, _ detail: String, isBody: Bool) -> TransferFailure {
        var errno = 0
        haul_easy_info_long(easy, CURLINFO_OS_ERRNO, &errno)
        var response = 0
        haul_easy_info_long(easy, CURLINFO_RESPONSE_CODE, &response)
        var connect = 0
        haul_easy_info_long(easy, CURLINFO_HTTP_CONNECTCODE, &connect)
        var failure = TransferFailure(
            code: Int32(code.rawValue), systemCode: Int32(truncatingIfNeeded: errno), detail: detail,
            responseCode: response)
        failure.connectCode = connect
        failure.isTruncated = isBody
        return failure
    }
}
