package import HaulCore
package import HaulEngine

/// Gives the downloads that were asked for, one after the other and in order, so that a list of any length needs
/// the memory of one line.
package struct DownloadPlan {
    /// What the plan has to know about files.
    package struct Files: Sendable {
        package var isDirectory: @Sendable (String) -> Bool
        package var isSymbolicLink: @Sendable (String) -> Bool

        package init(
            isDirectory: @escaping @Sendable (String) -> Bool,
            isSymbolicLink: @escaping @Sendable (String) -> Bool
        ) {
            self.isDirectory = isDirectory
            self.isSymbolicLink = isSymbolicLink
        }
    }

    private let factory: SpecFactory
    private let operands: [String]
    private let globs: [GlobPattern?]
    private var list: InputListReader?
    private var operand = 0
    private var expansion = 0

    /// `lines`: the input file, from its start.
    init(factory: SpecFactory, operands: [String], list: InputListReader?) throws(HaulError) {
        self.factory = factory
        self.operands = operands
        self.list = list
        var globs: [GlobPattern?] = []
        for text in operands {
            globs.append(factory.configuration.usesGlob ? try GlobPattern(parsing: text) : nil)
        }
        self.globs = globs
    }

    /// The next download, or `nil` when there is none left.
    ///
    /// - Throws: `.usage`, `.invalidURL` or `.unsupportedScheme`, naming the line where it stands in a list.
    package mutating func next() throws(HaulError) -> DownloadSpec? {
        guard operand < operands.count else {
            return try list?.next().map { entry throws(HaulError) in try factory.spec(for: entry) }
        }
        let number = operand
        guard let glob = globs[number] else {
            operand += 1
            return try factory.spec(url: operands[number], number: number, captures: [])
        }
        let (url, captures) = glob.expansion(expansion)
        expansion += 1
        if expansion == glob.count {
            expansion = 0
            operand += 1
        }
        return try factory.spec(url: url, number: number, captures: captures)
    }

    /// Goes through everything once, so that a mistake at the end is found before anything starts.
    ///
    /// - Returns: how many downloads there are.
    package mutating func check() throws(HaulError) -> Int {
        var count = 0
        var names = ExplicitNames()
        while operand < operands.count, let spec = try next() {
            // One name for all of them is another mistake, and told as such below.
            if factory.configuration.outputs.count > 1 { try names.add(spec.destination, factory.files) }
            count += 1
        }
        while let entry = try list?.next() {
            try factory.check(entry, &names)
            count += 1
        }
        try factory.check(count: count, operands: operands.count)
        return count
    }
}
