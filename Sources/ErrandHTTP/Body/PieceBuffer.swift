import ErrandSupport
import Foundation

/// A buffer of pieces between a task that produces them and a transport that sends them. The faster side waits.
final class PieceBuffer: Sendable {
  /// The number of bytes in the buffer at which the producer waits.
  static let limit = 256 << 10

  private struct State: Sendable {
    var pieces: [Data] = []
    var first = 0
    var count = 0
    var hasEnded = false
    var failure: (any Error)?
    /// Whether the transport received ``BodyRead/later`` and waits to be resumed.
    var isAwaited = false
    var isAbandoned = false
    var producer: CheckedContinuation<Void, Never>?

    var isFull: Bool { count >= PieceBuffer.limit && !isAbandoned }
  }

  private let state = Locked(State())
  private let flow: BodyFlow

  init(_ flow: BodyFlow) { self.flow = flow }

  // MARK: - The producer's side

  /// Adds a piece and waits while the buffer is full. Returns false after ``abandon()``.
  func put(_ piece: Data) async -> Bool {
    update { state in
      guard !state.isAbandoned, !piece.isEmpty else { return }
      state.pieces.append(piece)
      state.count += piece.count
    }
    await withCheckedContinuation { producer in
      let hasRoom = state.withLock { state in
        if state.isFull { state.producer = producer }
        return !state.isFull
      }
      if hasRoom { producer.resume() }
    }
    return state.withLock { !$0.isAbandoned }
  }

  /// Marks the end of the pieces. Pass the error if the producer failed.
  func finish(_ failure: (any Error)?) {
    update { state in
      state.hasEnded = true
      state.failure = failure
    }
  }

  /// Changes the state, and resumes the transport if it waits.
  private func update(_ change: @Sendable (inout State) -> Void) {
    let wasAwaited = state.withLock { state in
      change(&state)
      defer { state.isAwaited = false }
      return state.isAwaited
    }
    if wasAwaited { flow.resume() }
  }

  // MARK: - The transport's side

  /// Copies bytes into `room`. Returns ``BodyRead/later`` if the buffer is empty and the producer has not finished.
  func take(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead {
    var count = 0
    while count < room.count {
      guard let piece = next(room.count - count) else {
        if count > 0 { break }
        if let ending = try ending() { return ending }
        continue
      }
      piece.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: room[count...]), count: piece.count)
      count += piece.count
    }
    resumeProducer()
    return .bytes(count)
  }

  /// Removes and returns a piece; only its first `most` bytes if the piece is longer.
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
      if state.first == state.pieces.count || state.first >= 64 {
        state.pieces.removeFirst(state.first)
        state.first = 0
      }
      return taken
    }
  }

  /// The result of a read when the buffer is empty; nil if a piece has been added in the meantime.
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

  /// Called when the transport takes no more pieces.
  func abandon() {
    let producer = state.withLock { state in
      state.isAbandoned = true
      state.pieces = []
      return state.producer.take()
    }
    producer?.resume()
  }
}
