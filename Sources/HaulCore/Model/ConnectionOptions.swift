/// User and password, bound to the origin of the URL they were given for.
package struct Credentials: Hashable, Sendable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// Everything that is the same for all requests of a download: how to connect, to trust and to identify.
package struct ConnectionOptions: Hashable, Sendable {
    package enum AddressFamily: Hashable, Sendable { case any, ipv4, ipv6 }

    /// `nil`: from the environment; "": none.
    package var proxy: String?
    package var proxyCredentials: Credentials?
    /// `nil`: from the environment.
    package var noProxy: String?
    package var caFile: String?
    package var clientCertificate: String?
    package var clientKey: String?
    package var pinnedPublicKey: String?
    package var isInsecure = false
    package var sshKey: String?
    package var knownHosts: String?
    package var usesHTTP1Only = false
    package var family = AddressFamily.any
    package var interface: String?
    /// `HOST:PORT:ADDRESS[,ADDRESS]…`, as curl has it.
    package var resolve: [String] = []
    /// Seconds.
    package var connectTimeout = 15.0
    /// Seconds under 1 B/s after which a transfer counts as stalled.
    package var stallTimeout = 30.0
    /// `nil`: netrc is not used.
    package var netrcFile: String?

    package init() {}
}
