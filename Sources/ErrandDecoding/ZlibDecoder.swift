#if os(Linux)
  import CZlib
  package import ErrandHTTP

  /// A decoder for gzip (RFC 1952, one or more members) and deflate (RFC 1950). It also accepts a deflate stream
  /// without the zlib header (RFC 1951), because some servers send such a stream.
  package final class ZlibDecoder: ContentDecoder {
    package enum Format { case gzip, deflate }

    /// The place of the decoder in the coded bytes:
    /// - `none`: within a stream
    /// - `end`: at the end of a stream
    /// - `magic`: after the first byte of another gzip member
    /// - `ignored`: after the end of the last stream, in bytes that are ignored
    private enum Tail { case none, end, magic, ignored }

    private static let magic: [UInt8] = [0x1F, 0x8B]

    private let stream: UnsafeMutablePointer<z_stream>
    private let format: Format
    private var isSetUp = false
    private var tail = Tail.none

    package init(_ format: Format) throws(TransportFailure) {
      self.format = format
      stream = .allocate(capacity: 1)
      stream.initialize(to: z_stream())
      if format == .gzip { try setUp(windowBits: 31) }
    }

    /// True if every stream that has begun is complete. The first byte of a member alone begins no stream.
    package var isAtEnd: Bool { tail != .none }

    deinit {
      if isSetUp { inflateEnd(stream) }
      stream.deallocate()
    }

    private func setUp(windowBits: Int32) throws(TransportFailure) {
      let size = Int32(MemoryLayout<z_stream>.size)
      guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
        throw .undecodable("the zlib decoder cannot be created")
      }
      isSetUp = true
    }

    package func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      if tail != .none { return (try takeTail(input, output), 0) }
      if !isSetUp {
        guard let first = input.first else { return (0, 0) }
        try setUp(windowBits: first & 0x0F == 8 ? 15 : -15)
      }
      return try inflateSome(input, output)
    }

    /// Looks for another gzip member after the end of a gzip member (RFC 1952 section 2.2). Bytes that do not begin a
    /// member are ignored up to the end of the body. With deflate, all bytes after the end of the stream are ignored.
    private func takeTail(
      _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> Int {
      var used = 0
      while used < input.count {
        switch tail {
        case .end where format == .gzip && input[used] == Self.magic[0]: tail = .magic
        case .magic where input[used] == Self.magic[1]:
          try beginMember(output)
          return used + 1
        default:
          tail = .ignored
          return input.count
        }
        used += 1
      }
      return used
    }

    /// Begins another gzip member after its first two bytes were read. These two bytes produce no output.
    private func beginMember(_ output: UnsafeMutableRawBufferPointer) throws(TransportFailure) {
      guard inflateReset(stream) == Z_OK else { throw .undecodable("the zlib decoder cannot be created") }
      tail = .none
      let result = Self.magic.withUnsafeBytes { bytes in
        Result { () throws(TransportFailure) in try inflateSome(bytes, output) }
      }
      let step = try result.get()
      guard step.used == Self.magic.count else { throw .undecodable("the \(format) stream is damaged") }
    }

    private func inflateSome(
      _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      stream.pointee.next_in = UnsafeMutablePointer(mutating: input.assumingMemoryBound(to: UInt8.self).baseAddress)
      stream.pointee.avail_in = UInt32(clamping: input.count)
      stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
      stream.pointee.avail_out = UInt32(clamping: output.count)
      let offered = Int(stream.pointee.avail_in)
      let room = Int(stream.pointee.avail_out)
      let code = inflate(stream, Z_NO_FLUSH)
      switch code {
      case Z_STREAM_END: tail = .end
      case Z_OK, Z_BUF_ERROR: break
      default: throw .undecodable("the \(format) stream is damaged")
      }
      return (offered - Int(stream.pointee.avail_in), room - Int(stream.pointee.avail_out))
    }
  }
#endif
