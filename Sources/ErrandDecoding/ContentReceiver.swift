#if os(Linux)
  package import ErrandHTTP
  package import Foundation
  import Glibc

  /// Receives the content of one response after the transfer coding was removed, decodes it, and passes it to its
  /// destination.
  ///
  /// A sink may pause the body after any piece. A coded body also pauses when the ``DecodingBudget`` is used up. In
  /// both cases the caller must pass the unused bytes again later.
  package struct ContentReceiver {
    /// The place to which the decoded bytes of the body go.
    package enum Destination {
      /// The body is kept in memory. The exchange fails if the body is longer than `limit` bytes.
      case memory(limit: Int)
      /// Only the first `limit` bytes of the body are kept in memory. All later bytes are dropped.
      case beginning(limit: Int)
      case sink(any BodySink)
      case discard
    }

    /// The maximum number of bytes of a discarded body that are read in order to reuse its connection.
    package static let mostDiscarded = 1 << 20
    /// The maximum number of bytes after the end of a coded stream that are read in order to reuse the connection.
    private static let mostTail: Int64 = 1 << 20

    package let destination: Destination
    private let decoder: (any ContentDecoder)?
    private let scratch: UnsafeMutableRawBufferPointer
    /// The limit on the growth of a coded body by content decoding; nil for no limit.
    private let expansion: BodyExpansion?
    /// The number of bytes that arrived after the end of the coded stream.
    private var tailBytes: Int64 = 0
    private var decodedBytes: Int64 = 0
    private var mayHoldOutput = false
    /// True if the last piece was not fully decoded because the decoding budget was used up.
    package private(set) var isOutOfBudget = false

    private var memory = Data()
    /// The bytes of a large body of known length that is kept in memory; nil for another body.
    private var large: LargeBody?
    /// True if the body is longer than the part that is kept in memory.
    package private(set) var isCut = false
    /// The number of body bytes received so far, before content decoding.
    package private(set) var wireBytes: Int64 = 0

    /// Creates a receiver. `scratch` is the memory for decoded bytes. This memory belongs to the calling thread and
    /// must stay valid longer than the receiver.
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
        if length < LargeBody.least { memory.reserveCapacity(Int(length)) } else { large = LargeBody(Int(length)) }
      }
    }

    /// True if no more bytes of the body need to be read, because the kept part is complete, enough bytes were
    /// discarded, or enough bytes after the end of the coded stream were ignored.
    package var needsNoMore: Bool {
      if case .discard = destination { wireBytes > Self.mostDiscarded } else { isCut || tailBytes > Self.mostTail }
    }

    /// The memory for the next bytes of a large body, at most those that are missing. A transport that receives them
    /// there and passes them to ``take(_:_:)`` saves a copy. The memory is valid until this receiver has taken bytes or
    /// has ended. Nil for another body, or if no memory is available.
    package var freeSpace: UnsafeMutableRawBufferPointer? { large?.freeSpace }

    /// Returns the bytes that are kept in memory. The receiver then keeps no bytes.
    package mutating func takeMemory() -> Data {
      if let large { return large.takeData() }
      var taken = Data()
      swap(&taken, &memory)
      return taken
    }

    /// Delivers the output that the decoder still holds from earlier pieces. Returns false if the sink has paused or
    /// the decoding budget is used up.
    package mutating func drain(_ budget: inout DecodingBudget) throws -> Bool {
      isOutOfBudget = false
      return mayHoldOutput ? try feed(UnsafeRawBufferPointer(start: nil, count: 0), &budget).mayContinue : true
    }

    /// Decodes a piece of the body and passes the result to the destination. Returns how many bytes of the piece were
    /// used, and whether the caller may pass the next piece now.
    package mutating func take(
      _ data: UnsafeRawBufferPointer, _ budget: inout DecodingBudget
    ) throws -> (used: Int, mayContinue: Bool) {
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
    ) throws -> (used: Int, mayContinue: Bool) {
      guard let decoder else { return (data.count, true) }
      var used = 0
      while true {
        if needsNoMore { return (data.count, true) }
        guard !budget.isUsedUp else {
          isOutOfBudget = true
          return (used, false)
        }
        let produced = try decode(data, &used, decoder, &budget)
        let mayContinue = produced == 0 ? true : try deliver(UnsafeRawBufferPointer(rebasing: scratch[..<produced]))
        if !mayContinue || (used == data.count && !mayHoldOutput) { return (used, mayContinue) }
      }
    }

    /// Runs the decoder once and checks the size limits. Returns how many decoded bytes were produced.
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
      if !decoder.isAtEnd { tailBytes = 0 } else if isTail { tailBytes += Int64(step.used) }
      mayHoldOutput = step.produced == scratch.count || decoder.holdsOutput
      return step.produced
    }

    private mutating func deliver(_ piece: UnsafeRawBufferPointer) throws -> Bool {
      switch destination {
      case .discard: return true
      case .sink(let sink): return try sink.write(piece)
      case .memory(let limit):
        if let large {
          try large.append(piece)
          return true
        }
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

    /// Called when all bytes of the body have arrived, or no more are needed. Checks that the coded stream is complete,
    /// and notifies the sink that the body is complete.
    ///
    /// - Parameter mayBeCutOff: True if the body ends with the connection. A coded body without any bytes is then an
    ///   error, because the connection may have closed too early.
    package mutating func finish(mayBeCutOff: Bool) throws {
      if !needsNoMore, let decoder, !decoder.isAtEnd, wireBytes > 0 || mayBeCutOff {
        throw TransportFailure.undecodable("the compressed data ends too early")
      }
      if case .sink(let sink) = destination { try sink.end() }
    }
  }

  /// The memory for a large body of known length. It grows while the body arrives, because a server may announce more
  /// than it sends.
  private final class LargeBody {
    /// The length from which a body is received in place. A shorter body is cheaper to copy than to give memory of its
    /// own.
    static let least = 128 << 10
    private static let firstCapacity = 1 << 20

    private let length: Int
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private var count = 0

    init(_ length: Int) { self.length = length }

    deinit { free(memory) }

    /// The memory behind the bytes that have arrived. Nil if the body is complete or no memory is available.
    var freeSpace: UnsafeMutableRawBufferPointer? {
      guard count < length, count < capacity || grow(), let memory else { return nil }
      return UnsafeMutableRawBufferPointer(start: memory + count, count: capacity - count)
    }

    /// Appends bytes. Bytes that have arrived in ``freeSpace`` are not copied.
    func append(_ piece: UnsafeRawBufferPointer) throws(TransportFailure) {
      var rest = piece[...]
      while !rest.isEmpty {
        guard let space = freeSpace else { throw TransportFailure(.other, FailureText.outOfResources) }
        let bytes = UnsafeRawBufferPointer(rebasing: rest.prefix(space.count))
        if bytes.baseAddress != UnsafeRawPointer(space.baseAddress) { space.copyMemory(from: bytes) }
        count += bytes.count
        rest = rest.dropFirst(bytes.count)
      }
    }

    /// Returns the bytes without a copy. This object then has no bytes.
    func takeData() -> Data {
      guard let memory else { return Data() }
      self.memory = nil
      return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    private func grow() -> Bool {
      let larger = capacity == 0 ? min(length, Self.firstCapacity) : capacity + min(capacity, length - capacity)
      guard let more = realloc(memory, larger) else { return false }
      (memory, capacity) = (more, larger)
      return true
    }
  }

  extension ContentReceiver.Destination {
    /// The destination of the body of a response. If the exchange has a sink, the sink decides and receives `flow`.
    package init(_ head: ResponseHead, _ exchange: Exchange, _ flow: @autoclosure () -> BodyFlow) throws {
      if let sink = exchange.sink {
        switch try sink.begin(head, flow: flow()) {
        case .memory(let limit): self = .beginning(limit: limit)
        case .sink: self = .sink(sink)
        case .discard: self = .discard
        }
      } else if exchange.handling.dropsRedirectBodies, StatusRule.isRedirect(head.status) {
        self = .discard
      } else {
        let limit = exchange.limits.bodyBytes
        self = StatusRule.mayBeCut(head.status) ? .beginning(limit: limit) : .memory(limit: limit)
      }
    }
  }

  /// Limits how many bytes are decoded before the transport's thread does other work. A few kilobytes can decode to
  /// gigabytes. Without the limit, one body could block all other transfers on the thread.
  package struct DecodingBudget {
    /// The maximum number of coded plus decoded bytes of all bodies in one iteration of the thread's loop. Brotli needs
    /// about 5 ms for this number of bytes.
    private static let perTurn = 2 << 20
    /// The maximum number of coded plus decoded bytes for one received piece of a body. It leaves time for other bodies
    /// in the same iteration of the thread's loop.
    private static let perPiece = 256 << 10

    private var turn = perTurn
    private var piece = perPiece

    package init() {}

    /// True if decoding of the current body must pause until the next iteration of the thread's loop.
    package var isUsedUp: Bool { turn <= 0 || piece <= 0 }
    /// True if decoding of all bodies must pause until the next iteration of the thread's loop.
    package var isTurnOver: Bool { turn <= 0 }

    package mutating func beginPiece() { piece = Self.perPiece }

    package mutating func charge(_ bytes: Int) {
      turn -= bytes
      piece -= bytes
    }
  }
#endif
