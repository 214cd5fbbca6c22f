import ErrandSupport

/// The report of draining, for which every caller of ``APIClient/drain(within:)`` waits. The first report counts.
final class DrainControl: Sendable {
  private struct State: Sendable {
    var report: DrainReport?
    var waiting: [UnsafeContinuation<DrainReport, Never>] = []
    /// Whether draining no longer waits for the background refreshes of the cache.
    var isPastRefreshes = false
    var hasCancelledRefreshes = false
    /// The task that waits for the background refreshes of the cache.
    var refreshes: UnsafeContinuation<Void, Never>?
  }

  private let state = Locked(State())

  /// The report, as soon as draining has ended.
  func report() async -> DrainReport {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<DrainReport, Never>) in
      let report = state.withLock { state in
        if state.report == nil { state.waiting.append(continuation) }
        return state.report
      }
      if let report { continuation.resume(returning: report) }
    }
  }

  /// True as soon as draining has ended.
  var hasEnded: Bool { state.withLock { $0.report != nil } }

  /// Waits until no background refresh of the cache is in progress, or until ``passRefreshes()`` is called. Other
  /// clients may refresh responses of a shared cache without end.
  func refreshesEnded(in cache: any ClientCache) async {
    Task { @concurrent in
      await cache.refreshesEnded()
      passRefreshes()
    }
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isPast = state.withLock { state in
        if !state.isPastRefreshes { state.refreshes = continuation }
        return state.isPastRefreshes
      }
      if isPast { continuation.resume() }
    }
  }

  /// Draining waits for background refreshes no longer.
  func passRefreshes() {
    let waiting = state.withLock { state in
      state.isPastRefreshes = true
      return state.refreshes.take()
    }
    waiting?.resume()
  }

  /// Records that the background refreshes in progress are about to be cancelled.
  func recordCancelledRefreshes() { state.withLock { $0.hasCancelledRefreshes = true } }

  /// Ends draining with a report.
  func end(_ report: DrainReport) {
    var report = report
    let waiting = state.withLock { state in
      report.hasCancelledRefreshes = state.hasCancelledRefreshes
      state.report = state.report ?? report
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: report) }
  }
}

/// Takes the place of a client's own transport after draining, so that the client no longer keeps its connections open.
struct ReleasedTransport: Transport {
  let identity: String?

  func send(_ exchange: Exchange) async throws -> HTTPResponse { throw APIError.draining }
}

extension APIError {
  /// The error of a call that is started while the client drains or after it has drained.
  static var draining: APIError {
    APIError(
      .admission, .draining,
      "The client drains or has drained (`drain(within:)`), so the request was not sent; stop starting calls before "
        + "you drain the client, or make a new client.")
  }
}
