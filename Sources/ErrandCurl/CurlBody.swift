#if os(Linux)
  import ErrandDecoding
  import ErrandHTTP
  import Foundation

  /// Takes the body of one answer from libcurl: finds its end, and hands its content on.
  ///
  /// A sink may pause at any piece. libcurl then keeps what it had offered and offers it again, so the part that was
  /// taken is skipped the second time.
  struct CurlBody {
    typealias Destination = ContentReceiver.Destination

    private let framing: BodyFraming
    private var content: ContentReceiver
    private var chunks: ChunkParser?
    private var alreadyTaken = 0

    /// `scratch` is room to decode into. It belongs to the thread that calls and outlives the body.
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

    /// Bytes that came, their content coding on, their transfer coding off.
    var wireBytes: Int64 { content.wireBytes }
    /// Whether more came than is kept.
    var isCut: Bool { content.isCut }
    /// Whether the last piece was not taken whole since the budget for decoding is used up.
    var isOutOfBudget: Bool { content.isOutOfBudget }
    /// Whether so much of a body that nobody wants has come that the rest is not waited for.
    var isTooMuch: Bool { content.isTooMuch }

    /// The length that the head announced, if it did.
    var announcedLength: Int64? {
      if case .length(let length) = framing { return length }
      return framing == .none ? 0 : nil
    }

    /// Whether the connection must not be used again, since bytes came behind the end.
    var hasExcess: Bool { chunks?.hasExcess == true }

    /// Whether the framing says that all has come, or no more is wanted.
    var isWhole: Bool {
      if isTooMuch { return true }
      return switch framing {
      case .none: true
      case .length(let length): wireBytes >= length
      case .chunked: chunks?.isDone == true
      case .untilClose: false
      }
    }

    /// Moves the body in memory out.
    mutating func takeMemory() -> Data { content.takeMemory() }

    mutating func takeTrailers() -> HTTPFields { chunks?.takeTrailers() ?? HTTPFields() }

    /// Takes a piece as it came over the wire. False if the sink has paused or the budget is used up: the same piece
    /// comes again.
    mutating func take(_ piece: UnsafeRawBufferPointer, _ budget: inout DecodingBudget) throws -> Bool {
      if try !content.drain(&budget) { return false }
      let known = min(alreadyTaken, piece.count)
      alreadyTaken -= known
      var used = known
      while used < piece.count {
        let step = try takeSome(UnsafeRawBufferPointer(rebasing: piece[used...]), &budget)
        used += step.used
        if !step.goesOn {
          alreadyTaken = used
          return false
        }
      }
      return true
    }

    private mutating func takeSome(
      _ bytes: UnsafeRawBufferPointer, _ budget: inout DecodingBudget
    ) throws -> (used: Int, goesOn: Bool) {
      guard let next = try chunks?.next(bytes) else { return try content.take(bytes, &budget) }
      switch next {
      case .framing(let count): return (count, true)
      case .data(let count):
        let data = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        let step = try content.take(data, &budget)
        chunks?.giveBack(count - step.used)
        return step
      }
    }

    /// Called when libcurl says that all has come: checks that it is so.
    mutating func finish() throws {
      if isTooMuch { return }
      switch framing {
      case .none, .untilClose: break
      case .length(let length):
        guard wireBytes == length else { throw Self.cut }
      case .chunked:
        guard chunks?.isDone == true else { throw Self.cut }
      }
      try content.finish(mayBeCutOff: framing == .untilClose)
    }

    private static let cut = TransportFailure(.truncated, "The body of the response ended before its announced end.")
  }
#endif
