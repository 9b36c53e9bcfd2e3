/// Finds what someone most likely meant.
package enum NearestName {
    /// The candidate with the fewest differing letters (two swapped neighbours count as one), when it is near
    /// enough: at most a quarter of the letters; a unique candidate that starts with the word counts as near.
    package static func find(_ word: String, among candidates: some Sequence<String>) -> String? {
        var best: (name: String, distance: Int)?
        var prefixed: [String] = []
        for candidate in candidates {
            if word.utf8.count >= 3, candidate.hasPrefix(word) { prefixed.append(candidate) }
            let found = distance(Array(word.utf8), Array(candidate.utf8))
            if found < best?.distance ?? .max { best = (candidate, found) }
        }
        if let best, best.distance * 4 <= max(word.utf8.count, 4) { return best.name }
        return prefixed.count == 1 ? prefixed.first : nil
    }

    /// Damerau and Levenshtein's distance, restricted to swaps of neighbours.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var twoAbove: [Int] = []
        var above = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let same = left[row] == right[column]
                var cost = min(above[column + 1] + 1, current[column] + 1, above[column] + (same ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, twoAbove[column - 1] + 1)
                }
                current.append(cost)
            }
            twoAbove = above
            above = current
        }
        return above[right.count]
    }
}
