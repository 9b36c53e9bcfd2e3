/// Whether a request may go through a proxy: what libcurl looks at when it decides that.
package enum ProxyUse {
    /// Whether one is configured for such URLs; hosts that are exempt from it are not looked at.
    ///
    /// - Parameters:
    ///   - option: the proxy that was given; `nil`: the environment's counts; empty: none.
    ///   - scheme: of the URL.
    ///   - variable: a variable of the environment.
    /// - Returns: `false` when no proxy can have answered.
    package static func isPossible(
        option: String?, scheme: String, variable: (String) -> String?
    ) -> Bool {
        if let option { return !option.isEmpty }
        // Only in small letters: HTTP_PROXY may be a header field of a request to a CGI script.
        let own = scheme == "http" ? ["http_proxy"] : ["\(scheme)_proxy", "\(scheme.uppercased())_PROXY"]
        return (own + ["all_proxy", "ALL_PROXY"]).contains { !(variable($0) ?? "").isEmpty }
    }
}
