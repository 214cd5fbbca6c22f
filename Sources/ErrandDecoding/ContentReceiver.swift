#if os(Linux)
  package import ErrandHTTP
  package import Foundation

  /// Takes the content of one response, its transfer coding removed: undoes its content coding and brings it to its
  /// destination.
  ///
  /// A sink may pause at any piece, and a coded body stops when the budget for decoding is used up. What was not used
  /// is given again later.
  package struct ContentReceiver {
    /// Where the decoded bytes go.
    package enum Destination {
      /// More than this fails the exchange.
      case memory(limit: Int)
      /// More than this is left behind.
      case beginning(limit: Int)
      case sink(any BodySink)
      case discard
    }

    /// How many bytes of a discarded body are read, so that its connection can be kept.
    package static let mostDiscarded = 1 << 20
    /// How many bytes behind the end of a coded stream are ignored.
    private static let mostTail: Int64 = 1 << 20

    package let destination: Destination
    private let decoder: (any ContentDecoder)?
    private let scratch: UnsafeMutableRawBufferPointer
    /// What a coded body may become; nil if it is not bounded.
    private let expansion: BodyExpansion?
    /// Bytes that came after the end of the coded stream.
    private var tailBytes: Int64 = 0
    private var decodedBytes: Int64 = 0
    private var mayHoldOutput = false
    /// Whether the last piece was not taken whole since the budget for decoding is used up.
    package private(set) var isOutOfBudget = false

    private var memory = Data()
    /// Whether more came than is kept.
    package private(set) var isCut = false
    /// Bytes that came, their content coding on.
    package private(set) var wireBytes: Int64 = 0

    /// Makes a receiver. `scratch` is the memory for decoded bytes. It belongs to the calling thread, and must
    /// stay valid longer than the receiver.
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

    /// Whether so much of an unwanted body has come that the rest is not waited for.
    package var isTooMuch: Bool {
      if case .discard = destination { wireBytes > Self.mostDiscarded } else { isCut }
    }

    /// Moves the body in memory out.
    package mutating func takeMemory() -> Data {
      var taken = Data()
      swap(&taken, &memory)
      return taken
    }

    /// Brings on what the decoder holds of earlier pieces. False if the sink has paused or the budget is used up.
    package mutating func drain(_ budget: inout DecodingBudget) throws -> Bool {
      isOutOfBudget = false
      return mayHoldOutput ? try feed(UnsafeRawBufferPointer(start: nil, count: 0), &budget).goesOn : true
    }

    /// Takes a piece. Says how much of it was used, and whether more may come now.
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

    /// Runs the decoder over bytes until they are used up, the sink pauses, the budget is used up, or no more is
    /// wanted.
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

    /// Runs the decoder once and checks what came of it. Returns how many bytes it produced.
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

    /// Ends the content, all of which has come: checks that its coding ends there, and tells the sink.
    ///
    /// - Parameter mayBeCutOff: Whether the framing cannot tell an empty body from one that was cut off.
    package mutating func finish(mayBeCutOff: Bool) throws {
      if let decoder, !decoder.isAtEnd, wireBytes > 0 || mayBeCutOff {
        throw TransportFailure.undecodable("its compressed stream is cut short")
      }
      if case .sink(let sink) = destination { try sink.end() }
    }
  }
#endif
