#if os(Linux)
  import ErrandHTTP

  /// Reads a request body from its source and adds the framing. If the length of the body is known, the bytes are sent
  /// unchanged. Otherwise the bytes are sent in chunks (RFC 9112 section 7.1).
  enum UploadFraming {
    /// Bytes to send. The bytes are valid until the buffer is used again.
    struct Piece {
      let bytes: UnsafeRawBufferPointer
      /// True if the body ends with these bytes.
      let isLast: Bool
    }

    /// The number of bytes that are reserved before a chunk for the chunk size.
    private static let chunkSizeBytes = 18
    /// The number of bytes that are reserved after a chunk for CR LF.
    private static let chunkEndBytes = 2

    /// Reads the next piece of an exchange's body. Returns nil if the source has no bytes now.
    static func next(
      of exchange: EngineExchange, in buffer: UnsafeMutableRawBufferPointer, _ loop: EngineLoop
    ) throws -> Piece? {
      let isChunked = exchange.exchange.request.body?.length == nil
      let data = UnsafeMutableRawBufferPointer(
        rebasing: isChunked ? buffer[chunkSizeBytes..<(buffer.count - chunkEndBytes)] : buffer[...])
      switch try read(of: exchange, into: data, loop) {
      case .later: return nil
      case .end:
        return Piece(
          bytes: isChunked ? lastChunk(in: buffer) : UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
      case .bytes(let count):
        guard isChunked else {
          return Piece(
            bytes: UnsafeRawBufferPointer(rebasing: data[..<count]), isLast: exchange.hasReadBody)
        }
        return Piece(bytes: chunk(of: count, in: buffer), isLast: false)
      }
    }

    /// Reads the next bytes of an exchange's body without framing, and reports the progress.
    static func read(
      of exchange: EngineExchange, into buffer: UnsafeMutableRawBufferPointer, _ loop: EngineLoop
    ) throws -> BodyRead {
      let read =
        if let file = exchange.file {
          try file.read(into: buffer)
        } else {
          try exchange.upload?.give(buffer, flow(exchange, loop)) ?? .end
        }
      if case .bytes = read { exchange.reportUpload(loop) }
      return read
    }

    private static func flow(_ exchange: EngineExchange, _ loop: EngineLoop) -> BodyFlow {
      BodyFlow { [weak exchange, weak loop] in
        guard let exchange, let loop else { return }
        loop.push(.resumeUpload(exchange))
      }
    }

    /// Writes the chunk size before the data, and CR LF after the data. The data begins at `chunkSizeBytes`.
    private static func chunk(of count: Int, in buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
      let end = chunkSizeBytes + count
      buffer[end] = 0x0D
      buffer[end + 1] = 0x0A
      var start = chunkSizeBytes - 2
      buffer[start] = 0x0D
      buffer[start + 1] = 0x0A
      var left = count
      repeat {
        start -= 1
        buffer[start] = ASCII.hexDigit(UInt8(left & 0xF))
        left >>= 4
      } while left > 0
      return UnsafeRawBufferPointer(rebasing: buffer[start..<(end + chunkEndBytes)])
    }

    private static func lastChunk(in buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
      let text: [UInt8] = [0x30, 0x0D, 0x0A, 0x0D, 0x0A]
      buffer.copyBytes(from: text)
      return UnsafeRawBufferPointer(rebasing: buffer[..<text.count])
    }
  }
#endif
