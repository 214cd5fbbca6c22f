#if os(Linux)
  import CZstd
  import ErrandCore

  /// Zstandard (RFC 8878, one frame) with windows of at most 8 MiB (RFC 9659).
  ///
  /// A library may also be built to read what came before the RFC, by code that nobody looks after: only the one format
  /// comes through.
  final class ZstdContentDecoder: ContentDecoder {
    private static let largestWindowLog: Int32 = 23
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    private let stream: OpaquePointer
    private(set) var isAtEnd = false
    /// How many bytes of the magic number have been used.
    private var known = 0

    init() throws(TransportFailure) {
      guard let stream = ZSTD_createDStream() else { throw .undecodable("zstd cannot begin") }
      self.stream = stream
      ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.largestWindowLog)
    }

    deinit { ZSTD_freeDStream(stream) }

    func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      guard !isAtEnd else {
        if input.isEmpty { return (0, 0) }
        throw .undecodable("bytes follow the end of the compressed stream")
      }
      guard input.starts(with: Self.magic[known...].prefix(input.count)) else {
        throw .undecodable("its zstd stream is damaged")
      }
      var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
      var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
      let result = ZSTD_decompressStream(stream, &target, &source)
      guard ZSTD_isError(result) == 0 else { throw .undecodable("its zstd stream is damaged") }
      if result == 0 { isAtEnd = true }
      known = min(known + source.pos, Self.magic.count)
      return (source.pos, target.pos)
    }
  }
#endif
