#if os(Linux)
  import CZstd
  package import ErrandHTTP

  /// A decoder for Zstandard (RFC 8878, one or more frames) with windows of at most 8 MiB (RFC 9659).
  ///
  /// The zstd library may be built with support for formats that are older than the RFC, and the code for these formats
  /// is not maintained. The library looks for an old format when a frame header is wrong. Therefore this type collects
  /// the whole frame header, checks its magic number, and only then passes the header to the library.
  package final class ZstdContentDecoder: ContentDecoder {
    private static let largestWindowLog: Int32 = 23
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

    private let stream: OpaquePointer
    /// The received bytes of the next frame header. Nil while the library decodes a frame.
    private var head: [UInt8]? = []
    /// True if the body contains a complete frame or the beginning of a skippable frame.
    private var hasFrame = false
    /// The number of bytes of a skippable frame that have not arrived yet.
    private var skipped: Int64 = 0
    /// True if the last frame was followed by bytes that are not a frame. These bytes, and all later bytes, are
    /// ignored.
    private var isIgnoring = false

    package init() throws(TransportFailure) {
      guard let stream = ZSTD_createDStream() else { throw .undecodable("the zstd decoder cannot be created") }
      self.stream = stream
      ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.largestWindowLog)
    }

    /// True if every frame that has begun is complete. A part of a magic number begins no frame.
    package var isAtEnd: Bool {
      isIgnoring || hasFrame && skipped == 0 && head.map { $0.count < Self.magic.count } == true
    }

    deinit { ZSTD_freeDStream(stream) }

    package func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      if isIgnoring { return (input.count, 0) }
      if skipped > 0 { return (skip(input.count), 0) }
      guard var head else { return try decompress(input, into: output) }
      var used = 0
      while used < input.count, head.count < Self.headSize(head) {
        head.append(input[used])
        used += 1
        if !Self.mayBegin(head) { break }
      }
      self.head = head
      guard Self.mayBegin(head) else {
        guard hasFrame else { throw Self.damaged }
        isIgnoring = true
        return (input.count, 0)
      }
      guard head.count == Self.headSize(head) else { return (used, 0) }
      if Self.isSkippable(head) {
        beginSkipping(head)
        return (used, 0)
      }
      self.head = nil
      let result = head.withUnsafeBytes { bytes in
        Result { () throws(TransportFailure) in try decompress(bytes, into: output) }
      }
      let (taken, produced) = try result.get()
      guard taken == head.count else { throw Self.damaged }
      return (used, produced)
    }

    // MARK: - Skippable frames (RFC 8878 section 3.1.2)

    private func beginSkipping(_ head: [UInt8]) {
      self.head = []
      hasFrame = true
      skipped = head[4...].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    private func skip(_ count: Int) -> Int {
      let taken = Int(min(skipped, Int64(count)))
      skipped -= Int64(taken)
      return taken
    }

    /// True if the bytes may be the beginning of a frame or of a skippable frame.
    private static func mayBegin(_ head: [UInt8]) -> Bool {
      let front = head.prefix(4)
      if magic.starts(with: front) { return true }
      guard let first = front.first, first & 0xF0 == 0x50 else { return false }
      return [0x2A, 0x4D, 0x18].starts(with: front.dropFirst())
    }

    private static func isSkippable(_ head: [UInt8]) -> Bool { head.first.map { $0 & 0xF0 == 0x50 } == true }

    private static let damaged = TransportFailure.undecodable("the zstd stream is damaged")

    /// The size of a frame header in bytes (RFC 8878 section 3.1.1.1). The fifth byte determines the size. Returns 5 if
    /// the fifth byte has not arrived yet.
    private static func headSize(_ head: [UInt8]) -> Int {
      if isSkippable(head) { return magic.count + 4 }
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
      if result == 0 {
        hasFrame = true
        head = []
      }
      return (source.pos, target.pos)
    }
  }
#endif
