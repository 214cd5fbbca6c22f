#if os(Linux)
  import ErrandHTTP

  /// Reads a request body from its source and adds the framing. If the length is known, the bytes are sent unchanged.
  /// Otherwise they are sent in chunks (RFC 9112 section 7.1).
  enum UploadFraming {
    /// Bytes to send. They are valid until the buffer is used again.
    struct Piece {
      let bytes: UnsafeRawBufferPointer
      /// True if the body ends with these bytes.
      let isLast: Bool
    }

    /// The number of bytes that are reserved before a chunk for its size. `endRoom` is the number of bytes after it for
    /// CR LF.
    private static let sizeRoom = 18
    private static let endRoom = 2

    /// Reads the next piece of an exchange's body. Returns nil if the source has no bytes now.
    static func next(
      of exchange: EngineExchange, in room: UnsafeMutableRawBufferPointer, _ loop: EngineLoop
    ) throws -> Piece? {
      let isChunked = exchange.exchange.request.body?.length == nil
      let data = UnsafeMutableRawBufferPointer(
        rebasing: isChunked ? room[sizeRoom..<(room.count - endRoom)] : room[...])
      let read = try exchange.upload?.give(data, flow(exchange, loop)) ?? .end
      switch read {
      case .later: return nil
      case .end:
        return Piece(
          bytes: isChunked ? lastChunk(in: room) : UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
      case .bytes(let count):
        if let upload = exchange.upload {
          exchange.progress?.report(.upload, upload.sent, total: upload.total, at: loop.now)
        }
        guard isChunked else {
          return Piece(
            bytes: UnsafeRawBufferPointer(rebasing: data[..<count]), isLast: exchange.upload?.isWhole == true)
        }
        return Piece(bytes: chunk(of: count, in: room), isLast: false)
      }
    }

    private static func flow(_ exchange: EngineExchange, _ loop: EngineLoop) -> BodyFlow {
      BodyFlow { [weak exchange, weak loop] in
        guard let exchange, let loop else { return }
        loop.push(.resumeUpload(exchange))
      }
    }

    /// Writes the chunk size before the data, and CR LF after the data. The data begins at `sizeRoom`.
    private static func chunk(of count: Int, in room: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
      let end = sizeRoom + count
      room[end] = 0x0D
      room[end + 1] = 0x0A
      var start = sizeRoom - 2
      room[start] = 0x0D
      room[start + 1] = 0x0A
      var left = count
      repeat {
        start -= 1
        room[start] = ASCII.hexDigit(UInt8(left & 0xF))
        left >>= 4
      } while left > 0
      return UnsafeRawBufferPointer(rebasing: room[start..<(end + endRoom)])
    }

    private static func lastChunk(in room: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
      let text: [UInt8] = [0x30, 0x0D, 0x0A, 0x0D, 0x0A]
      room.copyBytes(from: text)
      return UnsafeRawBufferPointer(rebasing: room[..<text.count])
    }
  }
#endif
