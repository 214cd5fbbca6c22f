#if os(Linux)
  import ErrandHTTP

  /// Reads a request's body from its source and frames it: as it is if its length was announced, in chunks otherwise
  /// (RFC 9112 section 7.1).
  enum UploadFraming {
    /// Bytes on their way out. They are valid until the room is used again.
    struct Piece {
      let bytes: UnsafeRawBufferPointer
      /// Whether the body ends with them.
      let isLast: Bool
    }

    /// The room that the size of a chunk takes in front of it, and its end behind it.
    private static let sizeRoom = 18
    private static let endRoom = 2

    /// The next piece of an exchange's body; nil if its source has nothing now.
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

    /// Puts the size in front of the data, which begins behind the room for it, and the end behind.
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
