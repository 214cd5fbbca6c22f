import ErrandSupport

/// The progress of one transfer as a stream for one reader. A slow reader gets only the newest report.
///
/// A report that the reader misses may start the counting again. The next report of the same direction that the reader
/// gets then has ``TransferProgress/isRestart`` set. The same applies if a report has fewer bytes than the report of
/// this direction before it, for example because a paused download begins again in another call.
package final class ProgressFeed: Sendable {
  private struct State: Sendable {
    /// The newest report; nil if the reader has got it.
    var newest: TransferProgress?
    /// The number of bytes in the newest report of each direction.
    var bytes: [TransferProgress.Direction: Int64] = [:]
    /// The directions whose counting has started again since the reader got the last report of the direction.
    var restarted: Set<TransferProgress.Direction> = []
  }

  private let state = Locked(State())
  private let changes: AsyncStream<Void>
  private let change: AsyncStream<Void>.Continuation

  package init() {
    (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// The stream of the reports. It finishes after ``finish()``. Only one task may read it.
  package var reports: AsyncStream<TransferProgress> {
    AsyncStream(unfolding: {
      for await _ in self.changes {
        if let report = self.take() { return report }
      }
      return nil
    })
  }

  /// Adds a report, which replaces an older report that the reader has not got yet.
  package func yield(_ report: TransferProgress) {
    state.withLock { state in
      let last = state.bytes.updateValue(report.bytes, forKey: report.direction)
      if report.isRestart || report.bytes < last ?? 0 { state.restarted.insert(report.direction) }
      state.newest = report
    }
    change.yield()
  }

  /// Ends the stream. A report that the reader has not got yet is still delivered.
  package func finish() { change.finish() }

  private func take() -> TransferProgress? {
    state.withLock { state -> TransferProgress? in
      guard var report = state.newest.take() else { return nil }
      if state.restarted.remove(report.direction) != nil { report.isRestart = true }
      return report
    }
  }
}
