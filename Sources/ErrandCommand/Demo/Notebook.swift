/// Collects the events of callbacks in order, and lets a scene wait for them.
@MainActor
final class Notebook<Entry: Sendable> {
  private(set) var entries: [Entry] = []
  private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

  /// Adds an entry.
  func note(_ entry: Entry) {
    entries.append(entry)
    guard let waiting, entries.count >= waiting.count else { return }
    self.waiting = nil
    waiting.continuation.resume()
  }

  /// Waits until there are this many entries. Only one scene waits at a time.
  func reached(_ count: Int) async {
    guard entries.count < count else { return }
    await withCheckedContinuation { waiting = (count, $0) }
  }
}
