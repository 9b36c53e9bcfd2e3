package import HaulCore

/// How many of something, or as many as turn out to be good.
package enum AutoCount: Hashable, Sendable {
    case auto
    case fixed(Int)
}

/// What happens when the file is there already (`--if-exists`).
package enum ExistingFilePolicy: String, Hashable, Sendable, CaseIterable {
    /// Same source and unchanged, or the checksum that is wanted: nothing to do.
    ///
    /// Else: an explicit output is replaced, as is a file of the same source with another checksum; a suggested name
    /// gets a number.
    case auto
    case replace
    case rename
    case skip
    case fail
}

/// How a download is to be done.
///
/// Defaults are those of the manual.
package struct DownloadOptions: Hashable, Sendable {
    package var connections = AutoCount.auto
    package var minimumSplit: Int64 = 1 << 20
    package var isSequential = false
    package var checksums: [ChecksumValue] = []
    package var headers: [HeaderField] = []
    package var credentials: Credentials?
    package var bearer: String?
    package var awsSigV4: String?
    package var cookies: [String] = []  // lines of a Netscape cookie file
    @Boxed package var connection = ConnectionOptions()
    package var allowsDowngrade = false
    package var allowsFileURLs = false
    package var rateLimit: Int64?  // bytes a second, this download
    package var retries: Int? = 5  // nil: without end
    package var retriesAreGiven = false  // not the default
    package var retryWait = 1.0  // seconds
    package var maximumTime: Double?  // seconds for the whole download
    package var maximumLength: Int64?
    package var resume = ResumePolicy.overlap
    package var ifExists = ExistingFilePolicy.auto
    package var syncs = true
    package var waitsForLock = false
    package var keepsRemoteTime = false
    package var userAgent: String?
    package var referer: String?
    package var method: String?
    package var body: [UInt8]?
    package var range: String?  // as given: "0-99", "100-", "-5"
    /// A program and its arguments, run without a shell; the fresh URL is the first line it prints.
    package var refreshCommand: [String] = []

    package init() {}
}

/// Where the bytes go.
package enum Destination: Hashable, Sendable {
    /// Into a directory, under the name that the server or the URL suggests.
    case directory(String)
    /// Exactly there; when that is a directory: in it, under the suggested name.
    case file(String)
    /// To standard output, in order, without resuming.
    case standardOutput
}

/// One thing asked for.
package struct DownloadSpec: Hashable, Sendable {
    /// The URL and its mirrors, as they were given; the first is the one that names the download.
    package var urls: [String] { didSet { references = nil } }
    /// What the URLs were read as, where somebody did so already; the engine reads them itself otherwise.
    package private(set) var references: [URLReference]?
    package var destination: Destination
    @Boxed package var options: DownloadOptions

    package init(urls: [String], destination: Destination, options: DownloadOptions = DownloadOptions()) {
        self.urls = urls
        self.destination = destination
        _options = Boxed(wrappedValue: options)
    }

    /// - Throws: `.invalidURL` or `.unsupportedScheme`.
    package init(reading urls: [String], destination: Destination, options: DownloadOptions)
        throws(HaulError)
    {
        self.init(urls: urls, destination: destination, options: options)
        references = try DownloadSpec.read(urls)
    }

    /// - Throws: `.invalidURL` or `.unsupportedScheme`.
    package static func read(_ urls: [String]) throws(HaulError) -> [URLReference] {
        try urls.map { text throws(HaulError) in try URLReference(parsing: text) }
    }
}
