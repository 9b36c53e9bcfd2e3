import CCurl
import HaulCore

/// What a libcurl handle borrows while it runs, and what it can tell afterwards.
///
/// Owned by the transfer thread.
struct EasyResources {
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private var bytes: [UnsafeMutableRawBufferPointer] = []
    var headers: HeaderList?
    /// Where libcurl writes its words about a failure.
    let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    init() { errorBuffer.pointee = 0 }

    /// A list that lives until `free()`; `nil` for an empty one.
    mutating func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            // A list that cannot grow stays as it was (curl_slist_append(3)).
            if let longer = curl_slist_append(list, line) { list = longer }
        }
        if let list { lists.append(list) }
        return list
    }

    /// A copy of the bytes that lives until `free()`.
    mutating func copy(_ source: [UInt8]) -> UnsafeMutableRawPointer? {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, source.count), alignment: 1)
        copy.copyBytes(from: source)
        bytes.append(copy)
        return copy.baseAddress
    }

    var errorText: String { String(cString: errorBuffer) }

    mutating func free() {
        for list in lists { curl_slist_free_all(list) }
        for buffer in bytes { buffer.deallocate() }
        lists = []
        bytes = []
        headers = nil
        errorBuffer.deallocate()
    }

    /// Copies what libcurl learnt into a report.
    static func readFacts(
        of easy: UnsafeMutableRawPointer, into report: inout TransferReport, request: TransferRequest
    ) {
        var version = 0
        haul_easy_info_long(easy, CURLINFO_HTTP_VERSION, &version)
        report.isHTTP2 = version == CURL_HTTP_VERSION_2_0
        var sent: curl_off_t = 0
        var answered: curl_off_t = 0
        haul_easy_info_offset(easy, CURLINFO_PRETRANSFER_TIME_T, &sent)
        haul_easy_info_offset(easy, CURLINFO_STARTTRANSFER_TIME_T, &answered)
        report.response = Double(max(0, answered - sent)) / 1e6
        var offered = 0
        haul_easy_info_long(easy, CURLINFO_HTTPAUTH_AVAIL, &offered)
        if request.credentials != nil, request.scheme == .negotiate, offered != 0 {
            report.offeredScheme = offered & 2 != 0 ? .digest : offered & 1 != 0 ? .basic : nil
        }
        var list: UnsafeMutablePointer<curl_slist>?
        guard haul_easy_info_list(easy, CURLINFO_COOKIELIST, &list) == CURLE_OK, let list else { return }
        var jar: [String] = []
        var node: UnsafeMutablePointer<curl_slist>? = list
        while let current = node {
            jar.append(String(cString: current.pointee.data))
            node = current.pointee.next
        }
        curl_slist_free_all(list)
        if jar != request.cookies { report.cookies = jar }
    }
}
