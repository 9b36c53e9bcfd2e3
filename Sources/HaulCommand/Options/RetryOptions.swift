import HaulCore
import HaulEngine

extension OptionTable {
    /// When to try again, and when to give up.
    static let retries: [OptionDefinition] = [
        OptionDefinition(
            "retries", nil, "N|inf", in: .retries, .download, "tries in a row without progress (default 5)",
            manual:
                """
                Only failures that may pass are tried again. Progress resets the count. inf never gives up. A server \
                that fails on every request for a part is then asked once for the whole.
                """
        ) { (configuration, input) throws(HaulError) in
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
            "retry-wait", nil, "SECONDS", in: .retries, .download, "shortest wait between tries (default 1)",
            manual: "It grows with every try, to at most a minute more. From 0 to 86400."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.retryWait = try input.seconds(0...86400)
        },
        OptionDefinition(
            "connect-timeout", nil, "SECONDS", in: .retries, .download, "time to connect (default 15)",
            manual: "From 0.1 to 3600."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.connectTimeout = try input.seconds(0.1...3600)
        },
        OptionDefinition(
            "stall-timeout", nil, "SECONDS", in: .retries, .download, "time without a byte (default 30)",
            manual: "From 0.1 to 86400."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.stallTimeout = try input.seconds(0.1...86400)
        },
        OptionDefinition(
            "max-time", nil, "SECONDS", in: .retries, .download, "time for a whole download",
            manual: """
                Waits and retries included; what came is kept. From 0.1 to 31536000. Default: no limit. A server that \
                asks to wait longer (Retry-After) fails the download at once; without a limit, one that asks for more \
                than an hour.
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
