/// Options of curl, wget and aria2 that Haul has under another name, or has no need of.
package struct ForeignOption: Hashable, Sendable {
    /// Without dashes; one letter is a short option.
    package let names: [String]
    /// What to write instead, as in a settings file: `retries N`; `nil`: nothing.
    package let use: String?
    /// Why there is nothing to write, or what to know of what is written.
    package let why: String?

    /// What to try, after `try:`.
    ///
    /// `dashes`: As on the command line, not in a file.
    package func advice(dashes: Bool = true) -> String {
        guard let use else { return "leave it out: \(why ?? "Haul has no need of it")" }
        return (dashes ? "--" : "") + use + (why.map { ", \($0)" } ?? "")
    }

    package static func find(_ name: some StringProtocol) -> ForeignOption? { byName[String(name)] }

    package static let all = [
        // What is done without being asked.
        needless("L location location-trusted max-redirs max-redirect", "Haul follows redirects by itself"),
        needless("C continue continue-at always-resume", "Haul continues by itself what was cut off"),
        needless(
            "N timestamping conditional-get time-cond z", "Haul fetches no file again that is unchanged"),
        needless(
            "O remote-name remote-name-all J remote-header-name content-disposition trust-server-names",
            "Haul takes the server's name by itself; -o FILE gives another"),
        needless("S show-error", "Haul always says what failed"),
        needless("f fail fail-with-body", "Haul never takes an error page for the file"),
        needless("g globoff", "brackets mean something with --glob only"),
        needless("create-dirs force-directories", "Haul makes the directories by itself"),
        needless("Z parallel", "Haul fetches several at once by itself; -j N says how many"),
        needless("http2", "Haul uses HTTP/2 by itself where it helps"),
        needless("file-allocation", "Haul reserves the room by itself"),
        needless(
            "proto proto-redir https-only", "no redirect leads from https to http, but with --allow-downgrade"
        ),
        // What has another name.
        other("silent no-verbose nv no-progress-meter", "quiet"),
        other("s", "quiet", "or for connections -c N"),
        other("split max-connection-per-server num-connections", "connections N"),
        other("max-concurrent-downloads parallel-max", "jobs N"),
        other("retry tries max-tries t", "retries N"),
        other("retry-delay waitretry", "retry-wait TIME"),
        other("retry-max-time m", "max-time TIME"),
        other("dns-timeout", "connect-timeout TIME"),
        other("timeout T", "stall-timeout TIME", "and --connect-timeout TIME"),
        other("read-timeout speed-time y speed-limit Y lowest-speed-limit", "stall-timeout TIME"),
        other("max-download-limit", "limit-rate RATE"),
        other("max-overall-download-limit", "max-rate RATE"),
        other("cookie b load-cookies", "cookies FILE"),
        other("cookie-jar", "save-cookies FILE"),
        other("no-check-certificate check-certificate", "insecure"),
        other("ca-certificate", "cacert FILE"),
        other("certificate E", "cert FILE"),
        other("private-key", "key FILE"),
        other("P output-dir", "dir DIR"),
        other(
            "http-user http-passwd http-password ftp-user ftp-passwd ftp-password password",
            "user USER:PASSWORD"),
        other("proxy-password proxy-passwd all-proxy-user all-proxy-passwd", "proxy-user USER:PASSWORD"),
        other("all-proxy http-proxy https-proxy socks4 socks5 socks5-hostname", "proxy URL"),
        other("oauth2-bearer", "bearer TOKEN"),
        other("request", "method METHOD"),
        other("post-data post-file data-raw data-binary data-ascii body-data body-file", "data TEXT"),
        other("U", "user-agent TEXT"),
        other("D server-response include", "dump-header FILE"),
        other("I head spider", "dry-run", "or to get the head with the file --dump-header FILE"),
        other("R", "remote-time"),
        other("n", "netrc"),
        other("no-clobber nc", "if-exists skip"),
        other("clobber allow-overwrite", "if-exists replace"),
        other("auto-file-renaming", "if-exists rename"),
        other("K conf-path", "config FILE"),
        other("no-conf", "no-config"),
        other("progress-bar show-progress #", "progress bar"),
        other("w write-out", "json"),
        other("parameterized-uri", "glob"),
        other("inet4-only disable-ipv6", "ipv4"),
        other("inet6-only", "ipv6"),
        other("bind-address", "interface NAME"),
        other("on-download-complete", "on-finished CMD"),
        other("on-download-error", "on-failed CMD"),
    ]

    private static let byName = Dictionary(
        uniqueKeysWithValues: all.flatMap { option in option.names.map { ($0, option) } })

    private static func needless(_ names: String, _ why: String) -> ForeignOption {
        ForeignOption(names: names.split(separator: " ").map(String.init), use: nil, why: why)
    }

    private static func other(_ names: String, _ use: String, _ why: String? = nil) -> ForeignOption {
        ForeignOption(names: names.split(separator: " ").map(String.init), use: use, why: why)
    }
}
