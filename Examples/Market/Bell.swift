/// Rings once for each thing that a screen was told, so that the story waits for it and for nothing else.
@MainActor
final class Bell {
  private let rings: AsyncStream<Void>
  private let ringer: AsyncStream<Void>.Continuation

  init() { (rings, ringer) = AsyncStream.makeStream() }

  func ring() { ringer.yield() }

  /// Returns at the next ring, or at once where one was not waited for yet.
  func rung() async {
    for await _ in rings { return }
  }
}
