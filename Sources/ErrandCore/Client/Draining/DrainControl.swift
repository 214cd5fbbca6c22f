import ErrandSupport

/// The report of draining, for which every caller of ``APIClient/drain(within:)`` waits. The first report counts.
final class DrainControl: Sendable {
  private let reported = Promise<DrainReport>()
  /// Is set as soon as draining no longer waits for the background refreshes of the cache.
  private let passedRefreshes = Promise<Void>()
  private let hasCancelledRefreshes = Locked(false)

  /// The report, as soon as draining has ended.
  func report() async -> DrainReport { await reported.value() }

  var hasEnded: Bool { reported.isSet }

  /// Waits until no background refresh of the cache is in progress, or until ``passRefreshes()`` is called. Other
  /// clients may refresh responses of a shared cache without end.
  func refreshesEnded(in cache: any ClientCache) async {
    Task { @concurrent in
      await cache.refreshesEnded()
      passRefreshes()
    }
    await passedRefreshes.value()
  }

  /// Draining waits for background refreshes no longer.
  func passRefreshes() { passedRefreshes.set(()) }

  /// Records that the background refreshes in progress are about to be cancelled.
  func recordCancelledRefreshes() { hasCancelledRefreshes.withLock { $0 = true } }

  func end(_ report: DrainReport) {
    var report = report
    report.hasCancelledRefreshes = hasCancelledRefreshes.withLock { $0 }
    reported.set(report)
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
