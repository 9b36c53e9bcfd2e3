import HaulCore
import HaulEngine

extension OptionTable {
    /// How much at once, and how fast.
    static let speed: [OptionDefinition] = [
        OptionDefinition(
            "jobs", "j", "auto|N", in: .speed, .engine, "downloads at the same time (default auto)",
            manual: """
                auto: 6 connections a host over HTTP/1.1, up to 100 streams a host over HTTP/2, 64 in all. From 1 to 1024.
                """
        ) { (configuration, input) throws(HaulError) in
            configuration.engine.jobs = try input.autoCount(1...1024).map(AutoCount.fixed) ?? .auto
        },
        OptionDefinition(
            "connections", "c", "auto|N", in: .speed, .download, "connections for one file (default auto)",
            manual: "auto adds connections while that makes the download faster, up to 16. From 1 to 128."
        ) { (configuration, input) throws(HaulError) in
            do throws(HaulError) {
                configuration.download.connections =
                    try input.autoCount(1...128).map(AutoCount.fixed) ?? .auto
            } catch {
                var error = error
                // To wget and aria2 `-c` says that a file is to be continued.
                let isNumber = input.text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
                if input.source == .commandLine, !isNumber {
                    error.advice = "-c N; to continue, leave -c out: Haul does that by itself"
                }
                throw error
            }
        },
        OptionDefinition(
            "min-split-size", nil, "SIZE", in: .speed, .download,
            "smallest part for a connection (default 1M)",
            manual: "From 64K to 1T. Sizes: K, M, G, T are powers of 1024, kB, MB, GB powers of 1000."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.minimumSplit = try input.size(64 << 10...1 << 40)
        },
        .flag(
            "sequential", in: .speed, .download, "fetch in order, to play while downloading"
        ) { $0.download.isSequential = $1 },
        OptionDefinition(
            "limit-rate", nil, "RATE", in: .speed, .download, "bytes a second for each download",
            manual: "Such as 500K or 2.5M; 0 is no limit."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.rateLimit = try input.rate()
        },
        OptionDefinition(
            "max-rate", nil, "RATE", in: .speed, .engine, "bytes a second for all downloads together",
            manual: "Such as 500K or 2.5M; 0 is no limit."
        ) { (configuration, input) throws(HaulError) in
            configuration.engine.maximumRate = try input.rate()
        },
    ]
}
