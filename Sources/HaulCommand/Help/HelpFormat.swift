/// The documents that the option table makes.
package enum HelpFormat: String, Hashable, Sendable, CaseIterable {
    case man
    case markdown
    case bash
    case zsh
    case fish
}
