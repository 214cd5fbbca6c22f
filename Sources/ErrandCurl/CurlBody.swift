#if os(Linux)
  import ErrandHTTP
  import Foundation

  /// Takes the body of one answer from libcurl: finds its end, undoes its coding, and brings it to its destination.
  ///
  /// A sink may pause at any piece. libcurl then keeps what it had offered and offers it again, so the part that was
  /// taken is skipped the second time.
  struct CurlBody {
    /// Where the decoded bytes go.
    enum Destination {
      /// More than this fails the exchange.
      case memory(limit: Int)
      /// More than this is left behind.
      case beginning(limit: Int)
      case sink(any BodySink)
      case discard
    }

    /// How many bytes of a body that nobody wants are read, so that its connection can be kept.
    static let mostDiscarded = 1 << 20
    /// How many bytes behind the end of a coded stream are ignored.
    private static let mostTail: Int64 = 1 << 20

    private let framing: BodyFraming
    private let destination: Destination
    private let decoder: (any ContentDecoder)?
    private let scratch: UnsafeMutableRawBufferPointer
    /// What a coded body may become; nil if it is not bounded.
    private let expansion: BodyExpansion?
    /// Bytes that came after the end of the coded stream.
    private var tailBytes: Int64 = 0
    private var decodedBytes: Int64 = 0
    private var chunks: CurlChunkParser?
    private var alreadyTaken = 0
    private var mayHoldOutput = false
    /// Whether the last piece was not taken whole since the budget for decoding is used up.
    private(set) var isOutOfBudget = false

    private var memory = Data()
    /// Whether more came than is kept.
    private(set) var isCut = false
    /// Bytes that came, their content coding on, their transfer coding off.
    private(set) var wireBytes: Int64 = 0

    /// `scratch` is room to decode into. It belongs to the thread that calls and outlives the body.
    init(
      framing: BodyFraming, contentEncoding: String, destination: Destination, limits: ResponseLimits,
      refusesUnknownCodings: Bool = false, scratch: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) {
      self.framing = framing
      self.destination = destination
      self.scratch = scratch
      chunks = framing == .chunked ? CurlChunkParser(limits: limits) : nil
      expansion = limits.expansion
      if case .discard = destination {
        decoder = nil
      } else {
        decoder =
          framing == .none
          ? nil : try ContentCoding.decoder(for: contentEncoding, refusesUnknown: refusesUnknownCodings)
      }
      if case .memory(let limit) = destination, case .length(let length) = framing, decoder == nil {
        guard length <= Int64(limit) else { throw TransportFailure.bodyTooLarge(limit) }
        memory.reserveCapacity(Int(min(length, 1 << 20)))
      }
    }

    /// The length that the head announced, if it did.
    var announcedLength: Int64? {
      if case .length(let length) = framing { return length }
      return framing == .none ? 0 : nil
    }

    /// Whether the connection must not be used again, since bytes came behind the end.
    var hasExcess: Bool { chunks?.hasExcess == true }

    /// Whether so much of a body that nobody wants has come that the rest is not waited for.
    var isTooMuch: Bool {
      if case .discard = destination { wireBytes > Self.mostDiscarded } else { isCut }
    }

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
    mutating func takeMemory() -> Data {
      var taken = Data()
      swap(&taken, &memory)
      return taken
    }

    mutating func takeTrailers() -> HTTPFields { chunks?.takeTrailers() ?? HTTPFields() }

    /// Takes a piece as it came over the wire. False if the sink has paused or the budget is used up: the same piece
    /// comes again.
    mutating func take(_ piece: UnsafeRawBufferPointer, _ budget: inout CurlDecodingBudget) throws -> Bool {
      isOutOfBudget = false
      if mayHoldOutput, try !feed(UnsafeRawBufferPointer(start: nil, count: 0), &budget).goesOn { return false }
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
      _ bytes: UnsafeRawBufferPointer, _ budget: inout CurlDecodingBudget
    ) throws -> (used: Int, goesOn: Bool) {
      guard let next = try chunks?.next(bytes) else { return try takeData(bytes, &budget) }
      switch next {
      case .framing(let count): return (count, true)
      case .data(let count):
        let data = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        let step = try takeData(data, &budget)
        chunks?.giveBack(count - step.used)
        return step
      }
    }

    private mutating func takeData(
      _ data: UnsafeRawBufferPointer, _ budget: inout CurlDecodingBudget
    ) throws -> (used: Int, goesOn: Bool) {
      guard decoder != nil else {
        wireBytes += Int64(data.count)
        return (data.count, try deliver(data))
      }
      let step = try feed(data, &budget)
      wireBytes += Int64(step.used)
      return step
    }

    /// Runs the decoder over bytes until they are used up, the sink pauses, the budget is used up, or no more is
    /// wanted.
    private mutating func feed(
      _ data: UnsafeRawBufferPointer, _ budget: inout CurlDecodingBudget
    ) throws -> (used: Int, goesOn: Bool) {
      guard let decoder else { return (data.count, true) }
      var used = 0
      while true {
        if isTooMuch { return (data.count, true) }
        guard !budget.isUsedUp else {
          isOutOfBudget = true
          return (used, false)
        }
        let produced = try decode(data, &used, decoder, &budget)
        let goesOn = produced == 0 ? true : try deliver(UnsafeRawBufferPointer(rebasing: scratch[..<produced]))
        if !goesOn || (used == data.count && !mayHoldOutput) { return (used, goesOn) }
      }
    }

    /// Runs the decoder once and checks what came of it. Returns how many bytes it produced.
    private mutating func decode(
      _ data: UnsafeRawBufferPointer, _ used: inout Int, _ decoder: any ContentDecoder,
      _ budget: inout CurlDecodingBudget
    ) throws(TransportFailure) -> Int {
      let isTail = decoder.isAtEnd
      let hidden = decoder.hiddenBytes
      let step = try decoder.progress(UnsafeRawBufferPointer(rebasing: data[used...]), into: scratch)
      used += step.used
      decodedBytes += Int64(step.produced)
      budget.charge(step.used + step.produced + Int(clamping: decoder.hiddenBytes - hidden))
      try expansion?.check(decoded: max(decodedBytes, decoder.hiddenBytes), coded: wireBytes + Int64(used))
      if isTail, decoder.isAtEnd { tailBytes += Int64(step.used) }
      guard tailBytes <= Self.mostTail else {
        throw .undecodable("more than \(Self.mostTail) bytes follow the end of its compressed stream")
      }
      mayHoldOutput = step.produced == scratch.count || decoder.holdsOutput
      return step.produced
    }

    private mutating func deliver(_ piece: UnsafeRawBufferPointer) throws -> Bool {
      switch destination {
      case .discard: return true
      case .sink(let sink): return try sink.write(piece)
      case .memory(let limit):
        guard piece.count <= limit - memory.count else { throw TransportFailure.bodyTooLarge(limit) }
        keep(piece)
        return true
      case .beginning(let limit):
        isCut = piece.count > limit - memory.count
        keep(UnsafeRawBufferPointer(rebasing: piece.prefix(max(limit - memory.count, 0))))
        return true
      }
    }

    private mutating func keep(_ piece: UnsafeRawBufferPointer) {
      if let base = piece.assumingMemoryBound(to: UInt8.self).baseAddress { memory.append(base, count: piece.count) }
    }

    /// Whether nothing came and nothing was cut off: that is nothing, whatever its coding.
    private var isEmptyForCertain: Bool {
      if case .untilClose = framing { false } else { wireBytes == 0 }
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
      if let decoder, !decoder.isAtEnd, !isEmptyForCertain {
        throw TransportFailure.undecodable("its compressed stream is cut short")
      }
      if case .sink(let sink) = destination { try sink.end() }
    }

    private static let cut = TransportFailure(.truncated, "The body of the answer ended before its announced end.")
  }
#endif
