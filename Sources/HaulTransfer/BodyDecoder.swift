import CBrotli
import CZlib
import CZstd
import HaulCore

/// Undoes content codings while a body streams through.
///
/// Owned by the transfer thread.
final class BodyDecoder {
    struct Corrupt: Error {
        let coding: String
    }

    private let stages: [any DecoderStage]

    /// Fails for codings that are not known; `codings` are in the order of undoing, the outermost first.
    init?(_ codings: [String]) {
        var stages: [any DecoderStage] = []
        for coding in codings {
            switch coding {
            case "gzip", "x-gzip", "deflate": stages.append(InflateStage(coding))
            case "br": stages.append(BrotliStage())
            case "zstd": stages.append(ZstdStage())
            default: return nil
            }
        }
        self.stages = stages
    }

    func decode(_ bytes: UnsafeRawBufferPointer, into output: (UnsafeRawBufferPointer) -> Void)
        throws(Corrupt)
    {
        try run(bytes, stage: 0, output)
    }

    /// Whether every stage saw its own end: a coded body that stops early is truncated.
    var isAtEnd: Bool { stages.allSatisfy(\.isAtEnd) }

    private func run(
        _ bytes: UnsafeRawBufferPointer, stage: Int, _ output: (UnsafeRawBufferPointer) -> Void
    ) throws(Corrupt) {
        guard stage < stages.count else { return output(bytes) }
        var pieces: [[UInt8]] = []
        try stages[stage].decode(bytes) { pieces.append(Array($0)) }
        for piece in pieces {
            let result = piece.withUnsafeBytes { bytes in
                Result { () throws(Corrupt) in try run(bytes, stage: stage + 1, output) }
            }
            try result.get()
        }
    }
}

private protocol DecoderStage: AnyObject {
    var isAtEnd: Bool { get }
    func decode(_ bytes: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) -> Void)
        throws(BodyDecoder.Corrupt)
}

private let chunk = 64 << 10

/// gzip and zlib by their headers, and the headerless deflate that some servers send (zlib manual, inflateInit2).
private final class InflateStage: DecoderStage {
    private var stream = z_stream()
    private var isOpen = false
    private var sawBytes = false
    private let coding: String
    private(set) var isAtEnd = false

    init(_ coding: String) {
        self.coding = coding
        isOpen = open(windowBits: 15 + 32)
    }

    deinit { if isOpen { inflateEnd(&stream) } }

    private func open(windowBits: Int32) -> Bool {
        stream = z_stream()
        return inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    func decode(
        _ bytes: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) -> Void
    ) throws(BodyDecoder.Corrupt) {
        guard isOpen else { throw BodyDecoder.Corrupt(coding: coding) }
        guard !bytes.isEmpty else { return }
        // Bytes after the end are padding that browsers ignore too, unless they begin another gzip member.
        if isAtEnd {
            guard bytes[0] == 0x1F else { return }
            inflateReset(&stream)
            isAtEnd = false
        }
        if try !inflateAll(bytes, output) {
            inflateEnd(&stream)
            isOpen = open(windowBits: -15)
            guard isOpen, try inflateAll(bytes, output) else { throw BodyDecoder.Corrupt(coding: coding) }
        }
        sawBytes = true
    }

    /// - Returns: false when the very first bytes have no known header.
    private func inflateAll(
        _ bytes: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) -> Void
    ) throws(BodyDecoder.Corrupt) -> Bool {
        var room = [UInt8](repeating: 0, count: chunk)
        stream.next_in = UnsafeMutablePointer(
            mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(bytes.count)
        repeat {
            let (code, count) = room.withUnsafeMutableBufferPointer { buffer in
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(buffer.count)
                let code = inflate(&stream, Z_NO_FLUSH)
                return (code, buffer.count - Int(stream.avail_out))
            }
            if code == Z_DATA_ERROR, !sawBytes, stream.total_out == 0 { return false }
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                throw BodyDecoder.Corrupt(coding: coding)
            }
            room.withUnsafeBytes { output(UnsafeRawBufferPointer(rebasing: $0[0..<count])) }
            if code == Z_STREAM_END {
                isAtEnd = true
                guard stream.avail_in > 0, stream.next_in.pointee == 0x1F else { return true }
                inflateReset(&stream)
                isAtEnd = false
            } else if code == Z_BUF_ERROR, count == 0 {
                return true
            }
        } while stream.avail_in > 0 || stream.avail_out == 0
        return true
    }
}

private final class BrotliStage: DecoderStage {
    private let state = BrotliDecoderCreateInstance(nil, nil, nil)
    private(set) var isAtEnd = false

    deinit { BrotliDecoderDestroyInstance(state) }

    func decode(
        _ bytes: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) -> Void
    ) throws(BodyDecoder.Corrupt) {
        var available = bytes.count
        var next = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        while !isAtEnd {
            var noRoom = 0
            let result = BrotliDecoderDecompressStream(state, &available, &next, &noRoom, nil, nil)
            var size = 0
            while let piece = BrotliDecoderTakeOutput(state, &size), size > 0 {
                output(UnsafeRawBufferPointer(start: piece, count: size))
                size = 0
            }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS: isAtEnd = true
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            default: throw BodyDecoder.Corrupt(coding: "br")
            }
        }
    }
}

private final class ZstdStage: DecoderStage {
    private let stream = ZSTD_createDStream()
    private(set) var isAtEnd = false

    deinit { ZSTD_freeDStream(stream) }

    func decode(
        _ bytes: UnsafeRawBufferPointer, _ output: (UnsafeRawBufferPointer) -> Void
    ) throws(BodyDecoder.Corrupt) {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var room = [UInt8](repeating: 0, count: chunk)
        var filled = false
        while input.pos < input.size || filled {
            let (code, count) = room.withUnsafeMutableBytes { buffer in
                var out = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
                let code = ZSTD_decompressStream(stream, &out, &input)
                return (code, out.pos)
            }
            guard ZSTD_isError(code) == 0 else { throw BodyDecoder.Corrupt(coding: "zstd") }
            room.withUnsafeBytes { output(UnsafeRawBufferPointer(rebasing: $0[0..<count])) }
            isAtEnd = code == 0
            filled = count == room.count
        }
    }
}
