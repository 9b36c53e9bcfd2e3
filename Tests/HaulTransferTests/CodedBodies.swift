import CZlib
import CZstd
import HaulTestSupport

/// Coded bodies, made by the libraries' other halves or by hand.
enum CodedBodies {
    static func encode(_ bytes: [UInt8], _ coding: String) -> [UInt8] {
        switch coding {
        case "gzip", "x-gzip": deflated(bytes, windowBits: 15 + 16)
        case "deflate": deflated(bytes, windowBits: 15)
        case "raw deflate": deflated(bytes, windowBits: -15)
        case "br": storedBrotli(bytes)
        case "zstd": zstd(bytes)
        default: bytes
        }
    }

    /// `windowBits` chooses gzip, zlib or no header, as deflateInit2 has it.
    private static func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
        var input = bytes
        var stream = z_stream()
        deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64)
        return input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                deflate(&stream, Z_FINISH)
                return Array(target[..<(target.count - Int(stream.avail_out))])
            }
        }
    }

    private static func zstd(_ bytes: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        let count = ZSTD_compress(&output, output.count, bytes, bytes.count, 3)
        return Array(output[..<count])
    }

    /// Uncompressed meta-blocks (RFC 7932 §9.2): a decoder cannot tell them from a thrifty encoder's.
    private static func storedBrotli(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
            let part = bytes[start..<min(bytes.count, start + 1 << 16)]
            // WBITS (one zero bit, once), ISLAST 0, MNIBBLES 0 for four nibbles, MLEN - 1, ISUNCOMPRESSED 1.
            let shift = start == 0 ? 4 : 3
            let header = UInt32(part.count - 1) << shift | 1 << (shift + 16)
            output += [UInt8(header & 255), UInt8(header >> 8 & 255), UInt8(header >> 16 & 255)]
            output += part
        }
        return output + [bytes.isEmpty ? 0x06 : 0x03]
    }

    /// Text that compresses, several buffers of the decoders long.
    static let text = Array(
        (0..<40_000).map { "line \($0 % 977) of a text that repeats itself\n" }.joined().utf8)
}
