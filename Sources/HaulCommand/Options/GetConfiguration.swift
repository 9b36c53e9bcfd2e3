import HaulCore
package import HaulEngine

/// How progress is shown.
package enum ProgressMode: String, Hashable, Sendable, CaseIterable {
    case bar
    case plain
    case json
    case none
}

/// Everything that options, configuration file and environment said, before the URLs are looked at.
package struct GetConfiguration: Sendable {
    /// What every download gets unless a line of an input file says otherwise.
    package var download = DownloadOptions()
    package var engine = EngineOptions()

    // Where to.
    /// One for all URLs, or one for each; "-" is standard output.
    package var outputs: [String] = []
    package var directory: String?

    // What.
    package var inputFile: String?
    package var usesGlob = false
    package var mirrors: [String] = []
    package var checksumLists: [String] = []

    // Files beside the downloads.
    package var cookieFiles: [String] = []
    package var saveCookies: String?
    package var dumpHeader: String?
    package var usesNetrc = false

    // What to say and do.
    /// `nil`: bars on a terminal, plain lines elsewhere.
    package var progress: ProgressMode?
    package var isQuiet = false
    package var isVerbose = false
    package var writesJSON = false
    package var isDryRun = false
    package var failsEarly = false
    package var onFinished: String?
    package var onFailed: String?
    package var helpFormat: String?

    // Where the settings come from.
    package var configFile: String?
    package var usesConfig = true
    package var wantsHelp = false
    package var wantsVersion = false

    /// Names of the options that were given, wherever.
    package var given: Set<String> = []

    package init() {}
}
