#if os(Linux)
  import CZstd
  import ErrandCore

  /// Zstandard (RFC 8878, one frame) with windows of at most 8 MiB (RFC 9659).
  ///
  /// A library may also be built to read what came before the RFC, by code that nobody looks after. It looks for such a
  /// format wherever a head turns out to be wrong, so the head is handed to it whole, behind the one magic number.
  final class ZstdContentDecoder: ContentDecoder {
    private static let largestWindowLog: Int32 = 23
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    private let stream: OpaquePointer
    private(set) var isAtEnd = false
    /// The frame's head as far as it has come; nil once the library has it.
    private var head: [UInt8]? = []

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
      guard let begun = head else { return try decompress(input, into: output) }
      var head = begun
      var used = 0
      while used < input.count, head.count < Self.headSize(head) {
        head.append(input[used])
        used += 1
      }
      guard head.starts(with: Self.magic.prefix(head.count)) else { throw Self.damaged }
      self.head = head
      guard head.count == Self.headSize(head) else { return (used, 0) }
      self.head = nil
      let result = head.withUnsafeBytes { bytes in
        Result { () throws(TransportFailure) in try decompress(bytes, into: output) }
      }
      let (taken, produced) = try result.get()
      guard taken == head.count else { throw Self.damaged }
      return (used, produced)
    }

    private static let damaged = TransportFailure.undecodable("its zstd stream is damaged")

    /// How long a frame's head is by its fifth byte (RFC 8878 section 3.1.1.1): 5 before that is there.
    private static func headSize(_ head: [UInt8]) -> Int {
      guard head.count > magic.count else { return magic.count + 1 }
      let descriptor = head[magic.count]
      let isSingle = descriptor & 0x20 != 0
      let dictionary = [0, 1, 2, 4][Int(descriptor & 3)]
      let contentSize = [isSingle ? 1 : 0, 2, 4, 8][Int(descriptor >> 6)]
      return magic.count + 1 + (isSingle ? 0 : 1) + dictionary + contentSize
    }

    private func decompress(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
      var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
      let result = ZSTD_decompressStream(stream, &target, &source)
      guard ZSTD_isError(result) == 0 else { throw Self.damaged }
      if result == 0 { isAtEnd = true }
      return (source.pos, target.pos)
    }
  }
#endif
