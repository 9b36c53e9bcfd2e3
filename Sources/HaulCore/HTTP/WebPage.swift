/// Web pages that come where a file was asked for: of a captive portal, a login, a throttle.
package enum WebPage {
    /// Whether the answer is such a page, by its `Content-Type` and what is known of the file.
    package static func isImpostor(contentType: String?, known: RemoteFile?) -> Bool {
        guard let known, let contentType, known.mediaType != html else { return false }
        return ASCII.trimmed(contentType).lowercased().hasPrefix(html)
    }

    private static let html = "text/html"
}
