/// The whole command, from arguments to exit status.
package enum HaulMain {
    /// - Parameter arguments: without the program's name.
    /// - Returns: the exit status.
    package static func run(_ arguments: [String]) async -> Int32 { 0 }
}
