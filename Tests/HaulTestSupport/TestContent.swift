/// File contents that show every splice, hole and shift: the same for a seed everywhere, different for two seeds.
package enum TestContent {
    package static func bytes(seed: UInt64, count: Int) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            var offset = 0
            while offset < count {
                withUnsafeBytes(of: random.next().littleEndian) { word in
                    let part = min(word.count, count - offset)
                    UnsafeMutableRawBufferPointer(rebasing: raw[offset..<(offset + part)])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: word[..<part]))
                }
                offset += 8
            }
            initialized = count
        }
    }

    /// FNV-1a over 64 bits: to tell contents apart in tests, no protection against intent.
    package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    /// Where two contents part, or `nil` when they are the same; failures of tests read better with it.
    package static func firstDifference(_ left: [UInt8], _ right: [UInt8]) -> Int? {
        guard left != right else { return nil }
        return zip(left, right).enumerated().first { $1.0 != $1.1 }?.offset ?? min(left.count, right.count)
    }
}
