import HaulCore
import HaulEngine

extension OptionTable {
    /// When to try again, and when to give up.
    static let retries: [OptionDefinition] = [
        OptionDefinition(
            "retries", nil, "N|inf", in: .retries, .download, "retries in a row without progress (default 5)",
            manual:
                """
                Only failures that may pass are tried again. Progress resets the count. inf never gives up. A server \
                that fails on every request for a part is then asked once for the whole. Without this option, and as \
                long as nothing ever came, a host that is not found is tried once more, one that refuses twice.
                """
        ) { (configuration, input) throws(HaulError) in
            configuration.download.retriesAreGiven = true
            if ["inf", "infinite"].contains(input.text.lowercased()) {
                configuration.download.retries = .none
            } else {
                guard let first = input.text.utf8.first, first >= 0x30, first <= 0x39 else {
                    throw input.bad("inf or a whole number from 0 to 1000000")
                }
                configuration.download.retries = try input.count(0...1_000_000)
            }
        },
        OptionDefinition(
            "retry-wait", nil, "TIME", in: .retries, .download, "shortest wait between tries (default 1)",
            manual: "Such as 5 or 500ms. It grows with every try, to at most a minute more. From 0 to 1d."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.retryWait = try input.seconds(0...86400)
        },
        OptionDefinition(
            "connect-timeout", nil, "TIME", in: .retries, .download, "time to connect (default 15)",
            manual: "Such as 5 or 500ms. From 100ms to 1h."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.connectTimeout = try input.seconds(0.1...3600)
        },
        OptionDefinition(
            "stall-timeout", nil, "TIME", in: .retries, .download, "time without a byte (default 30)",
            manual: "Such as 90 or 2m. From 100ms to 1d."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.stallTimeout = try input.seconds(0.1...86400)
        },
        OptionDefinition(
            "max-time", nil, "TIME", in: .retries, .download, "time for a whole download",
            manual: """
                Such as 90, 10m or 1h. Waits and retries included; what came is kept. At most 365d. Default: no limit. A \
                server that asks to wait longer (Retry-After) fails the download at once; without a limit, one that asks \
                for more than an hour.
                """
        ) { (configuration, input) throws(HaulError) in
            configuration.download.maximumTime = try input.seconds(0.1...31_536_000)
        },
        OptionDefinition(
            "max-filesize", nil, "SIZE", in: .retries, .download, "refuse files larger than this",
            manual: "Also in the middle, when the server did not say the length."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.maximumLength = try input.size(0...1 << 62)
        },
    ]
}
