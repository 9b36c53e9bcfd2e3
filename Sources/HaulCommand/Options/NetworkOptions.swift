import HaulCore
import HaulEngine

extension OptionTable {
    /// How to get there, and whom to trust.
    static let network: [OptionDefinition] = [
        OptionDefinition(
            "proxy", "x", "URL", in: .network, .download, "go through this proxy",
            manual: """
                http, https, socks4, socks4a, socks5 or socks5h. Without it the variables http_proxy, https_proxy and \
                all_proxy count; an empty value means none.
                """,
            secret: .url
        ) { (configuration, input) throws(HaulError) in
            // Elsewhere `-x 16` asks for 16 connections; a proxy of that name would only be a puzzle.
            guard Int(input.text) == nil else {
                throw HaulError(
                    .usage, "\(input.label): '\(input.text)' is not a proxy",
                    advice: "-x http://HOST:PORT, or for connections -c \(input.text)")
            }
            configuration.download.connection.proxy = input.text
        },
        OptionDefinition(
            "proxy-user", nil, "USER:PASSWORD", in: .network, .download, "sign in at the proxy",
            manual: "Also @FILE, or the variable HAUL_PROXY_USER.", secret: .whole
        ) { (configuration, input) throws(HaulError) in
            let (user, password) = try input.userAndPassword()
            configuration.download.connection.proxyCredentials = Credentials(user: user, password: password)
        },
        OptionDefinition(
            "no-proxy", nil, "HOSTS", in: .network, .download,
            "hosts reached directly, with commas; * is all",
            manual: "Without it the variable no_proxy counts."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.noProxy = input.text
        },
        OptionDefinition(
            "cacert", nil, "FILE", in: .network, .download, "trust the authorities of this PEM file",
            completion: .file
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.caFile = try input.nonEmpty()
        },
        OptionDefinition(
            "cert", nil, "FILE", in: .network, .trustedDownload, "client certificate (PEM)", completion: .file
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.clientCertificate = try input.nonEmpty()
        },
        OptionDefinition(
            "key", nil, "FILE", in: .network, .trustedDownload, "private key of the certificate (PEM)",
            completion: .file
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.clientKey = try input.nonEmpty()
        },
        OptionDefinition(
            "pinned-pubkey", nil, "HASHES", in: .network, .download, "accept only this key: sha256//BASE64",
            manual: "Several with semicolons, or a PEM or DER file, as in curl."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.pinnedPublicKey = try input.nonEmpty()
        },
        .flag(
            "insecure", "k", in: .network, .download, "do not verify certificates and host keys",
            manual: "Anybody on the way can then give you another file. A checksum still protects it."
        ) { $0.download.connection.isInsecure = $1 },
        OptionDefinition(
            "ssh-key", nil, "FILE", in: .network, .trustedDownload, "private key for SFTP", completion: .file
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.sshKey = try input.nonEmpty()
        },
        OptionDefinition(
            "known-hosts", nil, "FILE", in: .network, .trustedDownload, "known SSH host keys",
            manual: "The default is ~/.ssh/known_hosts.", completion: .file
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.knownHosts = try input.nonEmpty()
        },
        .flag(
            "allow-downgrade", in: .network, .download, "follow redirects from https to http"
        ) { $0.download.allowsDowngrade = $1 },
        .flag(
            "allow-file", in: .network, .trustedDownload, "allow file: URLs"
        ) { $0.download.allowsFileURLs = $1 },
        .flag(
            "http1.1", in: .network, .download, "do not use HTTP/2"
        ) { $0.download.connection.usesHTTP1Only = $1 },
        .flag("ipv4", "4", in: .network, .download, "use IPv4 only") {
            $0.download.connection.family = $1 ? .ipv4 : .any
        },
        .flag("ipv6", "6", in: .network, .download, "use IPv6 only") {
            $0.download.connection.family = $1 ? .ipv6 : .any
        },
        OptionDefinition(
            "interface", nil, "NAME", in: .network, .download, "network interface or address to go out from"
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.interface = try input.nonEmpty()
        },
        OptionDefinition(
            "resolve", nil, "HOST:PORT:ADDR", in: .network, .download, "use this address (repeatable)",
            manual: "As in curl: the name keeps its certificate."
        ) { (configuration, input) throws(HaulError) in
            let parts = input.text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty, UInt16(parts[1]) != nil else {
                throw input.bad("HOST:PORT:ADDRESS")
            }
            configuration.download.connection.resolve.append(input.text)
        },
    ]
}
