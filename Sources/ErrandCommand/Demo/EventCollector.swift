/// Collects the events that callbacks report, in order. A scene of the demo can wait for these events.
@MainActor
final class EventCollector<Entry: Sendable> {
  private(set) var entries: [Entry] = []
  private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

  /// Adds an event. If a scene of the demo waits for events and enough events have been collected, resumes the scene.
  func append(_ entry: Entry) {
    entries.append(entry)
    guard let waiting, entries.count >= waiting.count else { return }
    self.waiting = nil
    waiting.continuation.resume()
  }

  /// Waits until `count` events have been collected. Only one task may wait at a time.
  func waitForEntries(_ count: Int) async {
    guard entries.count < count else { return }
    await withCheckedContinuation { waiting = (count, $0) }
  }
}
