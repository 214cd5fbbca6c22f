import ErrandSupport

extension APIClient {
  /// Ends the work of the client: refuses new calls and lets the running calls end.
  ///
  /// ```swift
  /// let report = await client.drain(within: .seconds(20))
  /// ```
  ///
  /// From now on, a new call or group fails with code ``APIError/Code/draining`` and is not sent. Running calls and
  /// groups continue, also with members that start later, retries, and calls that your code sends for them, such as the
  /// refresh of a credential. An event stream ends with its connection; one that waits for its next connection ends at
  /// once. Then the function waits until the background refreshes of the client's cache have ended and the cache has
  /// carried out its writes; other clients that share the cache are included. At last the client releases its transport
  /// if ``ClientConfiguration/transport`` is `.own`: its connections close as soon as no other client and no variable
  /// refers to the transport.
  ///
  /// After `limit`, everything that still runs is cancelled, and the cache carries out its writes. The same happens at
  /// once if the task of the caller is cancelled. Code of the app then has five more seconds to return. The function
  /// always returns.
  ///
  /// A client that has drained cannot be used again. If several tasks call this function, or if it is called again, the
  /// earliest end counts, and all callers receive the same report. After draining has ended, a call only returns it.
  ///
  /// - Parameter limit: The time in which calls may end by themselves, on the clock of ``ClientConfiguration/timers``.
  /// - Returns: What was done.
  @discardableResult
  public func drain(within limit: Duration = .seconds(30)) async -> DrainReport {
    if registry.draining.hasEnded { return await registry.draining.report() }
    let snapshot = snapshot
    if registry.beginDraining() { Task { @concurrent in await finishDraining(snapshot) } }
    let (timers, cache) = (snapshot.timers, snapshot.cache)
    let token = timers.schedule(at: timers.now.advanced(by: limit)) { [registry] in
      registry.expireDraining(cache, timers)
    }
    defer { timers.cancel(token) }
    return await withTaskCancellationHandler {
      await registry.draining.report()
    } onCancel: {
      registry.expireDraining(cache, timers)
    }
  }

  /// Whether the client drains or has drained, see ``drain(within:)``. A readiness check of a server can return this.
  public var isDraining: Bool { registry.isDraining }

  private func finishDraining(_ snapshot: ClientSnapshot) async {
    await registry.callsEnded()
    if let cache = snapshot.cache {
      await registry.draining.refreshesEnded(in: cache)
      await cache.flush()
    }
    configure { configuration in
      guard case .own(let transport) = configuration.transport else { return }
      configuration.transport = .own(ReleasedTransport(identity: transport.identity))
    }
    registry.endDraining(isCacheWritten: true)
  }
}

extension CallRegistry {
  /// The time between the cancellation of calls and the end of draining, in which code of the app may still run.
  private static let grace = Duration.seconds(5)

  /// Cancels the running calls, including those that refresh credentials, and the background refreshes of the cache.
  /// Ends draining at the end of the grace period. Does nothing after draining has ended, because the refreshes then
  /// belong to other clients.
  fileprivate func expireDraining(_ cache: (any ClientCache)?, _ timers: any Timers) {
    if draining.hasEnded { return }
    if let cache {
      if cache.isRefreshing { draining.recordCancelledRefreshes() }
      cache.cancelRefreshes()
    }
    if cancelRest(), let cache {
      // A call whose code does not return must not keep the cache from writing.
      Task { @concurrent in await cache.flush() }
    }
    draining.passRefreshes()
    _ = timers.schedule(at: timers.now.advanced(by: Self.grace)) { [weak self] in
      self?.endDraining(isCacheWritten: false)
    }
  }
}

/// What ``APIClient/drain(within:)`` did. Members of groups are counted like other calls, and each group counts as one
/// more.
public struct DrainReport: Sendable, Hashable {
  /// The number of calls and groups that ended by themselves after draining began, with success or with an error.
  public let finished: Int
  /// The number of calls and groups that were cancelled, because they had not ended in time.
  public let cancelled: Int
  /// The number of calls and groups that still ran when draining was given up, although they were cancelled: code of
  /// the app, such as a hook, did not return.
  public let unfinished: Int
  /// The number of calls, groups and reconnections of event streams that were refused while the client drained.
  public let refused: Int
  /// Whether the cache of the client has carried out its pending writes. True for a client without a cache.
  public let isCacheWritten: Bool
  /// Whether background refreshes of the client's cache were cancelled, because they had not ended in time.
  public internal(set) var hasCancelledRefreshes = false

  /// Whether everything ended by itself in time: no call and no background refresh was cancelled, and the cache is
  /// written.
  public var isComplete: Bool { cancelled == 0 && unfinished == 0 && isCacheWritten && !hasCancelledRefreshes }
}
