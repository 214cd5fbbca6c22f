/// Signals each callback of a screen, so that the story can wait for exactly one.
@MainActor
final class Bell {
  private let rings: AsyncStream<Void>
  private let ringer: AsyncStream<Void>.Continuation

  init() { (rings, ringer) = AsyncStream.makeStream() }

  func ring() { ringer.yield() }

  /// Waits for the next ring; returns at once if a ring was not consumed yet.
  func rung() async {
    for await _ in rings { return }
  }
}
