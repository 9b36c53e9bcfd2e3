/// `haul version`.
package enum VersionCommand {
    package static let version = "0.1.0"

    package static func text(json: Bool) -> String {
        guard json else { return "haul \(version)\n" }
        let value = JSONValue.object([.init("name", .string("haul")), .init("version", .string(version))])
        return value.text + "\n"
    }
}
