#if os(Linux)
  import CZlib
  import ErrandCore

  /// gzip (RFC 1952, of one or more members) and deflate (RFC 1950; the bare stream of RFC 1951 is taken too, as some
  /// servers send it).
  final class ZlibDecoder: ContentDecoder {
    enum Format { case gzip, deflate }

    private let stream: UnsafeMutablePointer<z_stream>
    private let format: Format
    private var isSetUp = false
    private(set) var isAtEnd = false

    init(_ format: Format) throws(TransportFailure) {
      self.format = format
      stream = .allocate(capacity: 1)
      stream.initialize(to: z_stream())
      if format == .gzip { try setUp(windowBits: 31) }
    }

    deinit {
      if isSetUp { inflateEnd(stream) }
      stream.deallocate()
    }

    private func setUp(windowBits: Int32) throws(TransportFailure) {
      let size = Int32(MemoryLayout<z_stream>.size)
      guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
        throw .undecodable("zlib cannot begin")
      }
      isSetUp = true
    }

    func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) -> (used: Int, produced: Int) {
      if isAtEnd {
        if input.isEmpty { return (0, 0) }
        try beginMember(input)
      }
      if !isSetUp {
        guard let first = input.first else { return (0, 0) }
        try setUp(windowBits: first & 0x0F == 8 ? 15 : -15)
      }
      return try inflateSome(input, output)
    }

    /// What follows a gzip member is another one (RFC 1952 section 2.2), or nothing that belongs there.
    private func beginMember(_ input: UnsafeRawBufferPointer) throws(TransportFailure) {
      guard format == .gzip, input.first == 0x1F, inflateReset(stream) == Z_OK else {
        throw .undecodable("bytes follow the end of the compressed stream")
      }
      isAtEnd = false
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
      case Z_STREAM_END: isAtEnd = true
      case Z_OK, Z_BUF_ERROR: break
      default: throw .undecodable("its \(format) stream is damaged")
      }
      return (offered - Int(stream.pointee.avail_in), room - Int(stream.pointee.avail_out))
    }
  }
#endif
