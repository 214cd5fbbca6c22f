/// Keeps what callbacks tell, in order, and lets a scene wait for it.
@MainActor
final class Notebook<Entry: Sendable> {
  private(set) var entries: [Entry] = []
  private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

  /// Notes an entry.
  func note(_ entry: Entry) {
    entries.append(entry)
    guard let waiting, entries.count >= waiting.count else { return }
    self.waiting = nil
    waiting.continuation.resume()
  }

  /// Returns once there are so many entries. One scene waits at a time.
  func reached(_ count: Int) async {
    guard entries.count < count else { return }
    await withCheckedContinuation { waiting = (count, $0) }
  }
}
