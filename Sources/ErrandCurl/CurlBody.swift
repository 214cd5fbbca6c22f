#if os(Linux)
  import ErrandDecoding
  import ErrandHTTP
  import Foundation

  /// Receives the body of one response from libcurl, finds its end, and delivers its content.
  ///
  /// A sink may pause after any piece. libcurl then keeps the piece and passes it again later. At that time, the bytes
  /// that were already used are skipped.
  struct CurlBody {
    typealias Destination = ContentReceiver.Destination

    private let framing: BodyFraming
    private var content: ContentReceiver
    private var chunks: ChunkParser?
    private var alreadyTaken = 0
    private var hasIgnoredBytes = false

    /// Creates a body. `scratch` is the buffer for decoded bytes. The buffer belongs to the calling thread and must
    /// stay valid longer than the body.
    init(
      framing: BodyFraming, contentEncoding: String, destination: Destination, limits: ResponseLimits,
      refusesUnknownCodings: Bool = false, scratch: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) {
      self.framing = framing
      chunks = framing == .chunked ? ChunkParser(limits: limits) : nil
      content = try ContentReceiver(
        destination, framing: framing, contentEncoding: contentEncoding, limits: limits,
        refusesUnknownCodings: refusesUnknownCodings, scratch: scratch)
    }

    /// The number of received bytes of the body, counted before content decoding. The framing of chunks is not counted.
    var wireBytes: Int64 { content.wireBytes }
    /// True if the body is longer than the part that is kept in memory.
    var isCut: Bool { content.isCut }
    /// True if the last piece was not fully decoded because the decoding budget was used up.
    var isOutOfBudget: Bool { content.isOutOfBudget }
    /// True if so many unneeded bytes of the body have arrived that the rest is not read.
    var needsNoMore: Bool { content.needsNoMore }

    /// The length of the body according to the headers. Nil if the headers do not state a length.
    var announcedLength: Int64? { framing.announcedLength }

    /// True if bytes arrived after the end of the body. The connection must then not be used again.
    var hasExcess: Bool { hasIgnoredBytes || chunks?.hasExcess == true }

    /// True if the body is complete by its framing, or if no more bytes are needed.
    var isWhole: Bool {
      if needsNoMore { return true }
      return switch framing {
      case .none: true
      case .length(let length): wireBytes >= length
      case .chunked: chunks?.isDone == true
      case .untilClose: false
      }
    }

    /// Returns the body that is stored in memory, and removes it from this object.
    mutating func takeMemory() -> Data { content.takeMemory() }

    mutating func takeTrailers() -> HTTPFields { chunks?.takeTrailers() ?? HTTPFields() }

    /// Processes a piece of the body in the form in which libcurl received it. Returns false if the sink has paused or
    /// the decoding budget is used up. In both cases libcurl passes the piece again.
    mutating func take(_ piece: UnsafeRawBufferPointer, _ budget: inout DecodingBudget) throws -> Bool {
      if try !content.drain(&budget) { return false }
      let known = min(alreadyTaken, piece.count)
      alreadyTaken -= known
      var used = known
      while used < piece.count {
        let step = try takeSome(UnsafeRawBufferPointer(rebasing: piece[used...]), &budget)
        used += step.used
        if !step.mayContinue {
          alreadyTaken = used
          return false
        }
      }
      return true
    }

    private mutating func takeSome(
      _ bytes: UnsafeRawBufferPointer, _ budget: inout DecodingBudget
    ) throws -> (used: Int, mayContinue: Bool) {
      guard let next = try chunks?.next(bytes) else { return try takeCounted(bytes, &budget) }
      switch next {
      case .framing(let count): return (count, true)
      case .data(let count):
        let data = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        let step = try content.take(data, &budget)
        chunks?.giveBack(count - step.used)
        return step
      }
    }

    /// Processes bytes of a body that has no chunks. If the headers state a length, ignores the bytes after this
    /// length, because they are not part of the response.
    private mutating func takeCounted(
      _ bytes: UnsafeRawBufferPointer, _ budget: inout DecodingBudget
    ) throws -> (used: Int, mayContinue: Bool) {
      let left = Int(clamping: announcedLength.map { $0 - wireBytes } ?? .max)
      if left < 1 {
        hasIgnoredBytes = true
        return (bytes.count, true)
      }
      return try content.take(UnsafeRawBufferPointer(rebasing: bytes.prefix(left)), &budget)
    }

    /// Checks that the body is complete. Called after libcurl has reported the end of the response.
    mutating func finish(from origin: HTTPURL.Origin) throws {
      switch framing {
      case _ where needsNoMore: break
      case .none, .untilClose: break
      case .length(let length):
        guard wireBytes == length else { throw Self.cut(origin) }
      case .chunked:
        guard chunks?.isDone == true else { throw Self.cut(origin) }
      }
      try content.finish(mayBeCutOff: framing == .untilClose)
    }

    private static func cut(_ origin: HTTPURL.Origin) -> TransportFailure {
      TransportFailure(.truncated, FailureText.sentence(for: .truncated, origin: origin))
    }
  }
#endif
