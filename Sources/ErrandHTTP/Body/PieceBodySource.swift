import ErrandSupport
public import Foundation

/// Provides the pieces of an asynchronous sequence as a body. A separate task reads the sequence, at most about
/// ``PieceBuffer/limit`` bytes ahead of the transport.
final class PieceBodySource: BodySource {
  private let pieceBuffer: PieceBuffer
  private let task: Task<Void, Never>

  init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, _ flow: BodyFlow)
  where Pieces.Element: DataProtocol & Sendable {
    let pieceBuffer = PieceBuffer(flow)
    self.pieceBuffer = pieceBuffer
    task = Task {
      do {
        for try await piece in pieces {
          guard await pieceBuffer.put(Data(piece)) else { return }
        }
        pieceBuffer.finish(nil)
      } catch {
        pieceBuffer.finish(error)
      }
    }
  }

  deinit {
    task.cancel()
    pieceBuffer.abandon()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> BodyRead { try pieceBuffer.take(into: buffer) }
}

extension HTTPBody {
  /// Makes a body from the pieces of an asynchronous sequence. The body can be sent only once, because the sequence is
  /// read only once. The sequence is read at most about 256 KiB ahead of the transfer, so that the producer runs no
  /// faster than the server receives.
  ///
  /// Make the body once and store it. The body records that it was read, and cannot be sent a second time. A new body
  /// with the same sequence does not know that the sequence is used up, and sends an empty body.
  ///
  /// - Parameters:
  ///   - pieces: The sequence whose elements are the pieces of the body.
  ///   - length: The total number of bytes; nil if it is unknown. A sequence with fewer bytes ends the exchange with
  ///     ``TransportFailure/Kind/bodyChanged``. So do additional bytes, but only if they are available when the last
  ///     announced byte is read; the exchange does not wait for them.
  public static func pieces<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Int64? = nil) -> HTTPBody
  where Pieces.Element: DataProtocol & Sendable {
    stream(length: length) { flow in PieceBodySource(pieces, flow) }
  }
}

/// A buffer between a task that produces the pieces of a body and a transport that sends them. The producer waits while
/// the buffer is full, and the transport waits while the buffer is empty.
final class PieceBuffer: Sendable {
  /// The buffer is full if it contains at least this many bytes.
  static let limit = 256 << 10

  private struct State: Sendable {
    var pieces: [Data] = []
    var first = 0
    var count = 0
    var hasEnded = false
    var failure: (any Error)?
    /// True if the transport has received ``BodyRead/later`` and now waits until the producer adds a piece or finishes.
    var isAwaited = false
    var isAbandoned = false
    var producer: CheckedContinuation<Void, Never>?

    var isFull: Bool { count >= PieceBuffer.limit && !isAbandoned }
  }

  private let state = Locked(State())
  private let flow: BodyFlow

  init(_ flow: BodyFlow) { self.flow = flow }

  // MARK: - The producer's side

  /// Adds a piece, and waits while the buffer is full. Returns false if ``abandon()`` was called.
  func put(_ piece: Data) async -> Bool {
    update { state in
      guard !state.isAbandoned, !piece.isEmpty else { return }
      state.pieces.append(piece)
      state.count += piece.count
    }
    await withCheckedContinuation { producer in
      let hasSpace = state.withLock { state in
        if state.isFull { state.producer = producer }
        return !state.isFull
      }
      if hasSpace { producer.resume() }
    }
    return state.withLock { !$0.isAbandoned }
  }

  /// Called when the producer adds no more pieces. `failure` is the error of the producer; nil if the producer
  /// succeeded.
  func finish(_ failure: (any Error)?) {
    update { state in
      state.hasEnded = true
      state.failure = failure
    }
  }

  /// Changes the state of the buffer. Resumes the transport if it waits for bytes.
  private func update(_ change: @Sendable (inout State) -> Void) {
    let wasAwaited = state.withLock { state in
      change(&state)
      defer { state.isAwaited = false }
      return state.isAwaited
    }
    if wasAwaited { flow.resume() }
  }

  // MARK: - The transport's side

  /// Copies bytes into `destination`. Returns ``BodyRead/later`` if there are no pieces and the producer has not
  /// finished.
  func take(into destination: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    var count = 0
    while count < destination.count {
      guard let piece = next(destination.count - count) else {
        if count > 0 { break }
        if let ending = try ending() { return ending }
        continue
      }
      piece.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: destination[count...]), count: piece.count)
      count += piece.count
    }
    resumeProducer()
    return .bytes(count)
  }

  /// Removes and returns the first piece, or its first `most` bytes if the piece is longer. Returns nil if the buffer
  /// is empty.
  private func next(_ most: Int) -> Data? {
    state.withLock { state in
      guard state.first < state.pieces.count else { return nil }
      let piece = state.pieces[state.first]
      let taken = piece.prefix(most)
      state.count -= taken.count
      if taken.count < piece.count {
        state.pieces[state.first] = piece.dropFirst(taken.count)
        return taken
      }
      state.pieces[state.first] = Data()
      state.first += 1
      // Many pieces are removed at once, so the time for a piece does not grow with the number of pieces.
      if state.first == state.pieces.count || state.first >= 64 && state.first * 2 >= state.pieces.count {
        state.pieces.removeFirst(state.first)
        state.first = 0
      }
      return taken
    }
  }

  /// Returns the result of a read from an empty buffer: the body has ended, or more pieces follow later. Returns nil if
  /// the buffer is no longer empty, because the producer has just added a piece.
  private func ending() throws -> BodyRead? {
    let (read, failure) = state.withLock { state -> (BodyRead?, (any Error)?) in
      guard state.first == state.pieces.count else { return (nil, nil) }
      state.isAwaited = !state.hasEnded
      return (state.hasEnded ? .end : .later, state.failure)
    }
    if let failure { throw failure }
    return read
  }

  private func resumeProducer() {
    let producer = state.withLock { $0.isFull ? nil : $0.producer.take() }
    producer?.resume()
  }

  /// Called when the transport will read no more pieces. Drops all pieces and resumes the producer if it waits.
  func abandon() {
    let producer = state.withLock { state in
      state.isAbandoned = true
      state.pieces = []
      return state.producer.take()
    }
    producer?.resume()
  }
}
