import ErrandSupport
import Foundation

/// Pieces between a task that makes them and a transport that takes them. Whoever is too fast waits.
final class PieceBuffer: Sendable {
  /// How many bytes may lie here before the maker waits.
  static let limit = 256 << 10

  private struct State: Sendable {
    var pieces: [Data] = []
    var first = 0
    var count = 0
    var hasEnded = false
    var failure: (any Error)?
    /// Whether the transport was told to come later.
    var isAwaited = false
    var isAbandoned = false
    var maker: CheckedContinuation<Void, Never>?

    var isFull: Bool { count >= PieceBuffer.limit && !isAbandoned }
  }

  private let state = Locked(State())
  private let flow: BodyFlow

  init(_ flow: BodyFlow) { self.flow = flow }

  // MARK: - The maker's side

  /// Adds a piece and waits as long as there are too many. False where nobody takes any more.
  func put(_ piece: Data) async -> Bool {
    tell { state in
      guard !state.isAbandoned, !piece.isEmpty else { return }
      state.pieces.append(piece)
      state.count += piece.count
    }
    await withCheckedContinuation { maker in
      let goesOn = state.withLock { state in
        if state.isFull { state.maker = maker }
        return !state.isFull
      }
      if goesOn { maker.resume() }
    }
    return state.withLock { !$0.isAbandoned }
  }

  /// Says that no more comes, and why where that is a failure.
  func finish(_ failure: (any Error)?) {
    tell { state in
      state.hasEnded = true
      state.failure = failure
    }
  }

  /// Changes the state, and has the transport come where it waits.
  private func tell(_ change: @Sendable (inout State) -> Void) {
    let wasAwaited = state.withLock { state in
      change(&state)
      defer { state.isAwaited = false }
      return state.isAwaited
    }
    if wasAwaited { flow.resume() }
  }

  // MARK: - The transport's side

  /// Moves bytes into `room`.
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
    letMakerGoOn()
    return .bytes(count)
  }

  /// Takes a piece out, or its front where it is longer than asked for.
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

  /// What there is to say where no piece is left; nil where one has just come.
  private func ending() throws -> BodyRead? {
    let (read, failure) = state.withLock { state -> (BodyRead?, (any Error)?) in
      guard state.first == state.pieces.count else { return (nil, nil) }
      state.isAwaited = !state.hasEnded
      return (state.hasEnded ? .end : .later, state.failure)
    }
    if let failure { throw failure }
    return read
  }

  private func letMakerGoOn() {
    let maker = state.withLock { $0.isFull ? nil : $0.maker.take() }
    maker?.resume()
  }

  /// Nobody takes any more.
  func abandon() {
    let maker = state.withLock { state in
      state.isAbandoned = true
      state.pieces = []
      return state.maker.take()
    }
    maker?.resume()
  }
}
