import CCurl
import CHaulShims
import HaulCore

/// Turns a request into options of a libcurl handle.
struct EasyConfiguration {
    let transfer: EasyTransfer
    private var easy: UnsafeMutableRawPointer { transfer.easy }
    private var request: TransferRequest { transfer.request }

    /// - Parameter rate: the limit that holds for it, bytes a second.
    func apply(rate: Double?) {
        set(CURLOPT_ERRORBUFFER, pointer: UnsafeMutableRawPointer(transfer.resources.errorBuffer))
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_NOPROGRESS, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        // Removing a handle that resolves a name must not wait for the resolver (CURLOPT_QUICK_EXIT(3)).
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_FAILONERROR, 0)
        setURL()
        setMethod()
        setHeaders()
        setCredentials()
        setProxy()
        setTrust()
        setConnection(rate: rate)
        if !request.url.isHTTP { setFileTransfer() }
    }

    private func setURL() {
        set(CURLOPT_URL, string: request.url.urlString)
        // The request target goes out byte for byte as it was given: signatures depend on it.
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_PROTOCOLS_STR, string: "http,https,ftp,ftps,sftp,file")
    }

    private func setMethod() {
        if let body = request.body {
            set(CURLOPT_POST, 1)
            haul_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            set(CURLOPT_POSTFIELDS, pointer: transfer.resources.copy(body))
        } else {
            set(CURLOPT_HTTPGET, 1)
        }
        if let method = request.method { set(CURLOPT_CUSTOMREQUEST, string: method) }
    }

    private func setHeaders() {
        let headers = transfer.loop.headerList(request.headers, hasBody: request.body != nil)
        transfer.resources.headers = headers
        if let list = headers.list { haul_easy_set_list(easy, CURLOPT_HTTPHEADER, list) }
        if let cookie = request.cookieHeader { set(CURLOPT_COOKIE, string: cookie) }
        // An empty file name switches the cookie engine on (CURLOPT_COOKIEFILE(3)).
        set(CURLOPT_COOKIEFILE, string: "")
        for line in request.cookies { set(CURLOPT_COOKIELIST, string: line) }
    }

    private func setCredentials() {
        if let credentials = request.credentials {
            set(CURLOPT_USERNAME, string: credentials.user)
            if let password = credentials.password { set(CURLOPT_PASSWORD, string: password) }
        }
        if let signature = request.awsSigV4 {
            set(CURLOPT_AWS_SIGV4, string: signature)
            return
        }
        switch request.scheme {
        case .negotiate: set(CURLOPT_HTTPAUTH, EasyConfiguration.basic | EasyConfiguration.digest)
        case .basic: set(CURLOPT_HTTPAUTH, EasyConfiguration.basic)
        case .digest: set(CURLOPT_HTTPAUTH, EasyConfiguration.digest)
        }
    }

    private func setProxy() {
        let connection = request.connection
        if let proxy = connection.proxy { set(CURLOPT_PROXY, string: proxy) }
        if let hosts = connection.noProxy { set(CURLOPT_NOPROXY, string: hosts) }
        if let credentials = connection.proxyCredentials {
            set(CURLOPT_PROXYUSERNAME, string: credentials.user)
            set(CURLOPT_PROXYPASSWORD, string: credentials.password ?? "")
        }
        set(CURLOPT_PROXYAUTH, EasyConfiguration.basic | EasyConfiguration.digest)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    private func setTrust() {
        let connection = request.connection
        if connection.isInsecure {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let file = connection.caFile { set(CURLOPT_CAINFO, string: file) }
        if let file = connection.clientCertificate { set(CURLOPT_SSLCERT, string: file) }
        if let file = connection.clientKey { set(CURLOPT_SSLKEY, string: file) }
        if let key = connection.pinnedPublicKey { set(CURLOPT_PINNEDPUBLICKEY, string: key) }
        if request.url.scheme == "https" || request.url.scheme == "ftps" {
            haul_watch_tls(easy, haul_tls_watch)
        }
        guard request.url.scheme == "sftp" else { return }
        if let key = connection.sshKey { set(CURLOPT_SSH_PRIVATE_KEYFILE, string: key) }
        // libssh2 refuses a host that is not in the file (CURLOPT_SSH_KNOWNHOSTS(3)).
        if !connection.isInsecure, let hosts = connection.knownHosts {
            set(CURLOPT_SSH_KNOWNHOSTS, string: hosts)
        }
    }

    private func setConnection(rate: Double?) {
        let connection = request.connection
        let isHTTP1 = connection.usesHTTP1Only || request.usesOwnConnection
        set(
            CURLOPT_HTTP_VERSION,
            isHTTP1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS)
        // Together with CURLMOPT_MAX_HOST_CONNECTIONS: wait for a multiplexed connection instead of opening many.
        // Plain HTTP never multiplexes here: waiting for it would only put requests behind one another.
        set(CURLOPT_PIPEWAIT, isHTTP1 || request.url.scheme != "https" ? 0 : 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(connection.connectTimeout, 0.001) * 1000))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        switch connection.family {
        case .any: break
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        if let interface = connection.interface { set(CURLOPT_INTERFACE, string: interface) }
        if let list = transfer.resources.list(connection.resolve) {
            haul_easy_set_list(easy, CURLOPT_RESOLVE, list)
        }
        guard let rate else {
            // Over SFTP libssh2 asks four buffers ahead: what is under way when the process is killed comes again.
            let isAhead = request.url.scheme == "sftp"
            return set(
                CURLOPT_BUFFERSIZE, isAhead ? EasyConfiguration.sftpBuffer : EasyConfiguration.fullBuffer)
        }
        // A read brings at most a tenth of a second's worth, and the kernel holds little more.
        let burst = max(1024, min(EasyConfiguration.fullBuffer, Int(rate * 0.1)))
        set(CURLOPT_BUFFERSIZE, burst)
        haul_small_receive_buffer(easy, max(8 << 10, min(512 << 10, Int(rate * 0.1))))
    }

    /// FTP and SFTP: size and time are the validator, ranges are libcurl's to carry out.
    private func setFileTransfer() {
        set(CURLOPT_FILETIME, 1)
        if request.url.scheme == "ftp" || request.url.scheme == "ftps" {
            set(CURLOPT_FTP_SKIP_PASV_IP, 1)
            if request.url.scheme == "ftps" { set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
        }
        guard let range = request.expectation.range, range.lower > 0 || range.upper != .max else { return }
        let last = range.upper == .max ? "" : String(range.upper - 1)
        set(CURLOPT_RANGE, string: "\(range.lower)-\(last)")
    }

    private func set(_ option: CURLoption, _ value: Int) { haul_easy_set_long(easy, option, value) }
    private func set(_ option: CURLoption, string: String) { haul_easy_set_string(easy, option, string) }
    private func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        haul_easy_set_pointer(easy, option, pointer)
    }

    /// libcurl's own most; a large buffer saves system calls even though callbacks get 16 KiB at a time.
    private static let fullBuffer = 512 << 10
    private static let sftpBuffer = 64 << 10
    /// CURLAUTH_BASIC and CURLAUTH_DIGEST are macros with casts that Swift does not import.
    private static let basic = 1
    private static let digest = 2
}
