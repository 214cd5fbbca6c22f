#if os(Linux)
  package import ErrandHTTP
  package import Foundation

  /// Receives the content of one response after the transfer coding was removed, decodes it, and passes it to its
  /// destination.
  ///
  /// A sink may pause after any piece. A coded body stops when the decoding budget is used up. The caller must pass the
  /// unused bytes again later.
  package struct ContentReceiver {
    /// The destination of the decoded bytes.
    package enum Destination {
      /// A body in memory. The exchange fails if the body is longer than `limit` bytes.
      case memory(limit: Int)
      /// The first `limit` bytes of a body in memory. The rest is dropped.
      case beginning(limit: Int)
      case sink(any BodySink)
      case discard
    }

    /// The maximum number of bytes of a discarded body that are read in order to reuse its connection.
    package static let mostDiscarded = 1 << 20
    /// The maximum number of bytes after the end of a coded stream that are ignored.
    private static let mostTail: Int64 = 1 << 20

    package let destination: Destination
    private let decoder: (any ContentDecoder)?
    private let scratch: UnsafeMutableRawBufferPointer
    /// The limit of how much a coded body may grow when it is decoded. Nil for no limit.
    private let expansion: BodyExpansion?
    /// The number of bytes that arrived after the end of the coded stream.
    private var tailBytes: Int64 = 0
    private var decodedBytes: Int64 = 0
    private var mayHoldOutput = false
    /// True if the last piece was not fully decoded because the decoding budget was used up.
    package private(set) var isOutOfBudget = false

    private var memory = Data()
    /// True if the body is longer than the part that is kept.
    package private(set) var isCut = false
    /// The number of received bytes before content decoding.
    package private(set) var wireBytes: Int64 = 0

    /// Creates a receiver. `scratch` is the memory for decoded bytes. It belongs to the calling thread and must stay
    /// valid longer than the receiver.
    package init(
      _ destination: Destination, framing: BodyFraming, contentEncoding: String, limits: ResponseLimits,
      refusesUnknownCodings: Bool, scratch: UnsafeMutableRawBufferPointer
    ) throws(TransportFailure) {
      self.destination = destination
      self.scratch = scratch
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

    /// True if so many unneeded bytes of the body have arrived that the rest is not read.
    package var isTooMuch: Bool {
      if case .discard = destination { wireBytes > Self.mostDiscarded } else { isCut }
    }

    /// Moves the body in memory out.
    package mutating func takeMemory() -> Data {
      var taken = Data()
      swap(&taken, &memory)
      return taken
    }

    /// Delivers the output that the decoder still holds from earlier pieces. Returns false if the sink has paused or
    /// the decoding budget is used up.
    package mutating func drain(_ budget: inout DecodingBudget) throws -> Bool {
      isOutOfBudget = false
      return mayHoldOutput ? try feed(UnsafeRawBufferPointer(start: nil, count: 0), &budget).goesOn : true
    }

    /// Processes a piece of the body. Returns how many bytes were used, and whether the next piece may follow now.
    package mutating func take(
      _ data: UnsafeRawBufferPointer, _ budget: inout DecodingBudget
    ) throws -> (used: Int, goesOn: Bool) {
      guard decoder != nil else {
        wireBytes += Int64(data.count)
        return (data.count, try deliver(data))
      }
      let step = try feed(data, &budget)
      wireBytes += Int64(step.used)
      return step
    }

    /// Decodes bytes until all of them are used, the sink pauses, the decoding budget is used up, or no more bytes are
    /// needed.
    private mutating func feed(
      _ data: UnsafeRawBufferPointer, _ budget: inout DecodingBudget
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

    /// Runs the decoder once and checks the limits. Returns how many bytes were produced.
    private mutating func decode(
      _ data: UnsafeRawBufferPointer, _ used: inout Int, _ decoder: any ContentDecoder,
      _ budget: inout DecodingBudget
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
        throw .undecodable("more than \(Self.mostTail) bytes follow the end of its compressed data")
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

    /// Ends the content after all bytes have arrived: checks that the coded stream is complete, and ends the sink.
    ///
    /// - Parameter mayBeCutOff: True if the body ends with the connection. An empty body then looks the same as a body
    ///   that was cut off.
    package mutating func finish(mayBeCutOff: Bool) throws {
      if let decoder, !decoder.isAtEnd, wireBytes > 0 || mayBeCutOff {
        throw TransportFailure.undecodable("its compressed data ends too early")
      }
      if case .sink(let sink) = destination { try sink.end() }
    }
  }
#endif
