import HaulCore

/// A file as tags instead of bytes: which version stands where, and from which offset of it.
struct SimulatedDisk {
    struct Piece: Equatable {
        var range: ByteRange
        var version: Int
        /// Offset in the remote file minus offset on disk; 0 unless a part of the file was asked for.
        var shift: Int64
    }

    private(set) var pieces: [Piece] = []
    /// What the journal knows; `nil`: there is no partial file.
    var journal: (facts: RemoteFile, done: RangeSet)?

    mutating func write(_ range: ByteRange, version: Int, shift: Int64) {
        guard !range.isEmpty else { return }
        pieces = pieces.flatMap { piece -> [Piece] in
            guard piece.range.intersection(range) != nil else { return [piece] }
            var rest: [Piece] = []
            if piece.range.lower < range.lower {
                rest.append(
                    Piece(
                        range: ByteRange(piece.range.lower, range.lower), version: piece.version,
                        shift: piece.shift))
            }
            if piece.range.upper > range.upper {
                rest.append(
                    Piece(
                        range: ByteRange(range.upper, piece.range.upper), version: piece.version,
                        shift: piece.shift))
            }
            return rest
        }
        if let last = pieces.last, last.version == version, last.shift == shift,
            last.range.upper == range.lower
        {
            pieces[pieces.count - 1].range = ByteRange(last.range.lower, range.upper)
        } else {
            pieces.append(Piece(range: range, version: version, shift: shift))
        }
    }

    mutating func clear() {
        pieces = []
        journal?.done = RangeSet()
    }

    /// The versions that a range holds, or `nil` when a byte of it was never written.
    func versions(in range: ByteRange) -> Set<Int>? {
        var seen = RangeSet()
        var versions: Set<Int> = []
        for piece in pieces {
            guard let part = piece.range.intersection(range) else { continue }
            seen.insert(part)
            versions.insert(piece.version)
        }
        return seen.contains(range) ? versions : nil
    }

    func shifts(in range: ByteRange) -> Set<Int64> {
        Set(pieces.filter { $0.range.intersection(range) != nil }.map(\.shift))
    }
}
