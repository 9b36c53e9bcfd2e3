package import HaulCore
import HaulEngine

/// Joins what the settings file, the environment and the command line say; later ones win.
package struct ConfigurationBuilder: Sendable {
    /// What a file gave: its bytes, and whether others may read it.
    package struct FileText: Sendable {
        package let bytes: [UInt8]
        package let isPrivate: Bool

        package init(bytes: [UInt8], isPrivate: Bool) {
            self.bytes = bytes
            self.isPrivate = isPrivate
        }
    }

    /// `nil`: there is no such file.
    package typealias ReadFile = @Sendable (String) throws(HaulError) -> FileText?

    private let environment: @Sendable (String) -> String?
    private let read: ReadFile
    /// Sentences for the person, such as a secret that others can read.
    package private(set) var warnings: [String] = []

    package init(environment: @escaping @Sendable (String) -> String?, read: @escaping ReadFile) {
        self.environment = environment
        self.read = read
    }

    /// Variables that hold secrets, with the option each stands for.
    package static let secretVariables = [
        "HAUL_USER": "user", "HAUL_BEARER": "bearer", "HAUL_PROXY_USER": "proxy-user",
    ]

    /// - Throws: `.usage` for values that are not understood.
    package mutating func build(_ parsed: ParsedArguments) throws(HaulError) -> GetConfiguration {
        var location = GetConfiguration()
        for assignment in parsed.assignments
        where ["config", "no-config"].contains(assignment.definition.name) {
            try apply(assignment.definition, assignment.text, .commandLine, to: &location)
        }
        var configuration = GetConfiguration()
        if location.usesConfig { try applyFile(location.configFile, to: &configuration) }
        for (variable, option) in ConfigurationBuilder.secretVariables.sorted(by: { $0.key < $1.key }) {
            guard let value = environment(variable), !value.isEmpty,
                let definition = OptionTable.find(option)
            else { continue }
            try apply(definition, value, .environment, to: &configuration)
        }
        for assignment in parsed.assignments {
            try apply(assignment.definition, assignment.text, .commandLine, to: &configuration)
        }
        complete(&configuration)
        return configuration
    }

    private mutating func applyFile(_ named: String?, to configuration: inout GetConfiguration)
        throws(HaulError)
    {
        guard let path = named ?? defaultPath else { return }
        guard let file = try read(path) else {
            if named == nil { return }
            throw HaulError(.usage, "there is no settings file \(path)")
        }
        guard let text = String(validating: file.bytes, as: UTF8.self) else {
            throw HaulError(.usage, "\(path) is not UTF-8 text")
        }
        for setting in try ConfigFile.parse(text, file: path) {
            do {
                try apply(setting.definition, setting.text, .configuration, to: &configuration)
            } catch {
                throw HaulError(
                    error.code, "\(path) line \(setting.line): \(error.message)", advice: error.advice)
            }
        }
        if !file.isPrivate, let secret = try ConfigFile.secrets(in: text, file: path).first {
            warnings.append("\(path) holds a secret ('\(secret)') and others can read it; chmod 600 helps")
        }
    }

    /// `$XDG_CONFIG_HOME/haul/haul.conf`, which must be absolute to count, or the one in the home directory.
    private var defaultPath: String? {
        if let base = environment("XDG_CONFIG_HOME"), base.hasPrefix("/") { return "\(base)/haul/haul.conf" }
        return environment("HOME").map { "\($0)/.config/haul/haul.conf" }
    }

    private func apply(
        _ definition: OptionDefinition, _ text: String, _ source: OptionInput.Source,
        to configuration: inout GetConfiguration
    ) throws(HaulError) {
        let read = self.read
        let input = OptionInput(name: definition.name, text: text, source: source) {
            (path: String) throws(HaulError) -> [UInt8] in
            guard let file = try read(path) else {
                throw HaulError(.usage, "--\(definition.name): there is no file \(path)")
            }
            return file.bytes
        }
        try definition.apply(&configuration, input)
        configuration.given.insert(definition.name)
    }

    /// What follows from the options together.
    private func complete(_ configuration: inout GetConfiguration) {
        if configuration.usesNetrc, configuration.download.connection.netrcFile == nil {
            configuration.download.connection.netrcFile =
                environment("NETRC") ?? environment("HOME").map { "\($0)/.netrc" }
        }
        if configuration.download.body != nil, configuration.download.method == nil {
            configuration.download.method = "POST"
        }
    }
}
