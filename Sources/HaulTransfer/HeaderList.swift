import CCurl
import HaulCore

/// Header fields as libcurl takes them; one list serves all requests that have the same.
///
/// Owned by the transfer thread.
final class HeaderList {
    private let fields: [HeaderField]
    private let hasBody: Bool
    let list: UnsafeMutablePointer<curl_slist>?

    /// `hasBody`: a line more keeps libcurl's own `Expect` away.
    init(_ fields: [HeaderField], hasBody: Bool) {
        self.fields = fields
        self.hasBody = hasBody
        var list: UnsafeMutablePointer<curl_slist>?
        var line: [UInt8] = []
        for field in fields {
            line.removeAll(keepingCapacity: true)
            line += field.name.utf8
            // libcurl sends a field without a value only if it ends in a semicolon (CURLOPT_HTTPHEADER(3)).
            line.append(UInt8(ascii: field.bytes.isEmpty ? ";" : ":"))
            if !field.bytes.isEmpty { line.append(UInt8(ascii: " ")) }
            line += field.bytes
            line.append(0)
            let longer = line.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { curl_slist_append(list, $0.baseAddress) }
            }
            // A list that cannot grow stays as it was (curl_slist_append(3)).
            if let longer { list = longer }
        }
        if hasBody, let longer = curl_slist_append(list, "Expect:") { list = longer }
        self.list = list
    }

    deinit { curl_slist_free_all(list) }

    func fits(_ fields: [HeaderField], hasBody: Bool) -> Bool {
        self.hasBody == hasBody && self.fields == fields
    }
}
