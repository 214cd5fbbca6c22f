#if os(Linux)
  public import ErrandHTTP
  import ErrandSupport

  /// The transport on libcurl: HTTP/1.1 and HTTP/2, one thread for all exchanges.
  ///
  /// It is strict about the framing of RFC 9112, undoes gzip, deflate, brotli and zstd, and sends no request
  /// twice that the server may have seen, unless it may be repeated. The thread starts with the first exchange, serves
  /// ``timers`` too, and ends when nobody holds the transport or its timers any more and no exchange is left.
  public final class CurlTransport: Transport, ThreadLending {
    private struct State: Sendable {
      var configuration: CurlConfiguration
      var timers: CurlTimers
      var executor: CurlExecutor
      var identity: String?
    }

    private let state: Locked<State>
    /// Held while the setting is changed, so that no change undoes another one.
    private let changing = Locked(())
    private let resolver: (any NameResolver)?

    /// Makes a transport with the standard configuration.
    public convenience init() { self.init(over: CurlLoop(CurlConfiguration(), .standard)) }

    /// Makes a transport over a loop that nothing was done with.
    init(over loop: CurlLoop) {
      state = Locked(Self.state(loop))
      resolver = nil
    }

    /// Makes a transport.
    /// - Parameters:
    ///   - configuration: How it reaches servers.
    ///   - resolver: Who finds the addresses of hosts; nil for the system. Nobody is asked about addresses in numbers,
    ///     about hosts that ``CurlConfiguration/addressOverrides`` names, nor where requests go to a proxy or a Unix
    ///     socket.
    /// - Throws: ``CurlConfiguration/Invalid`` where a setting cannot be honoured.
    public init(
      _ configuration: CurlConfiguration, resolver: (any NameResolver)? = nil
    ) throws(CurlConfiguration.Invalid) {
      try configuration.validate()
      state = Locked(Self.state(CurlLoop(configuration, try CurlTrust(configuration))))
      self.resolver = resolver
    }

    /// How it reaches servers.
    public var configuration: CurlConfiguration { state.withLock { $0.configuration } }

    /// Changes how it reaches servers. Exchanges that run keep what they began with, and each later one has a thread
    /// and connections that know the new setting only.
    /// - Throws: ``CurlConfiguration/Invalid`` where a setting cannot be honoured; nothing has changed then.
    public func update(_ configuration: CurlConfiguration) throws(CurlConfiguration.Invalid) {
      try changing.withLock { _ throws(CurlConfiguration.Invalid) in
        if configuration != self.configuration { try replace(by: configuration) }
      }
    }

    /// Reads the files of authorities and client certificates again, such as after one was renewed. Exchanges that run
    /// keep what they began with; no later one uses a connection that was made under the former trust.
    /// - Throws: ``CurlConfiguration/Invalid`` where a file cannot be used; nothing has changed then.
    public func reload() throws(CurlConfiguration.Invalid) {
      try changing.withLock { _ throws(CurlConfiguration.Invalid) in try replace(by: configuration) }
    }

    private func replace(by configuration: CurlConfiguration) throws(CurlConfiguration.Invalid) {
      try configuration.validate()
      let new = Self.state(CurlLoop(configuration, try CurlTrust(configuration)))
      let old = state.withLock { state in
        let old = state
        state = new
        return old
      }
      _ = old  // released here, outside the lock
    }

    /// The timers of a loop that can be used: where the system had no room for one, it is asked once more.
    private func usableTimers() throws(TransportFailure) -> CurlTimers {
      let old = state.withLock { $0 }
      if old.timers.loop.isUsable { return old.timers }
      let new = Self.state(CurlLoop(old.timers.loop.configuration, old.timers.loop.trust))
      guard new.timers.loop.isUsable else {
        throw TransportFailure(.other, "libcurl has no memory or no file descriptor left.", isCertainlyNotSent: true)
      }
      return state.withLock { state in
        if state.timers === old.timers { state = new }
        return state.timers
      }
    }

    /// All but telling kinds of networks apart.
    public var capabilities: TransportCapabilities {
      [.bodySink, .informational, .trailers, .http2, .proxy, .metrics, .progress, .observesStop, .bodySource]
    }

    /// gzip, br and zstd. deflate is undone, too, but not asked for.
    public var contentCodings: [String] { ContentCoding.announced }

    /// Timers that the transport's own thread serves.
    public var timers: (any Timers)? {
      let timers = state.withLock { $0.timers }
      return timers.loop.isUsable ? timers : nil
    }

    /// A digest of the client certificates; nil if there are none. It changes by ``update(_:)`` and ``reload()``.
    public var identity: String? { state.withLock { $0.identity } }

    /// The transport's own thread as a place for tasks: a task that prefers it pays for no change of threads.
    ///
    /// For bulk work: a thousand small calls in a row, a crawler, a proxy. What runs there must be short and must not
    /// block, since all transfers wait meanwhile; large bodies are decoded elsewhere.
    ///
    /// ```swift
    /// await withTaskExecutorPreference(transport.executor) { … try await client.send(request) … }
    /// ```
    ///
    /// After ``update(_:)`` it is another one; tasks on the former run to their end.
    public var executor: any TaskExecutor { state.withLock { $0.executor } }

    /// Sends the request and brings the answer, whatever its status.
    /// - Throws: ``TransportFailure``, ``CallState/Stopped``, ``BodySourceFailure``, or what the exchange's sink
    ///   threw.
    public func send(_ exchange: Exchange) async throws -> HTTPResponse {
      try CurlRequestCheck.check(exchange.request)
      let timers = try usableTimers()
      let loop = timers.loop
      var addresses: String?
      var lookup = Duration.zero
      if let resolver {
        let begun = exchange.call.timers.now
        addresses = try await CurlResolving(exchange, loop.configuration).addresses(by: resolver)
        lookup = begun.duration(to: exchange.call.timers.now)
      }
      let transfer = CurlTransfer(exchange, loop: loop, addresses: addresses, lookup: lookup)
      try await exchange.call.wait(asking: { _ in loop.push(.abort(transfer)) }) { wakeup in
        transfer.wakeup = wakeup
        loop.push(.submit(transfer))
      }
      return try withExtendedLifetime(timers) { try transfer.outcome() }
    }

    private static func state(_ loop: CurlLoop) -> State {
      let timers = CurlTimers(loop: loop)
      return State(
        configuration: loop.configuration, timers: timers, executor: CurlExecutor(timers: timers),
        identity: ClientCertificate.identity(of: loop.configuration.clientCertificates))
    }
  }

  /// Runs jobs of tasks on the loop's thread, in the order they come.
  final class CurlExecutor: TaskExecutor {
    private let timers: CurlTimers

    init(timers: CurlTimers) { self.timers = timers }

    func enqueue(_ job: consuming ExecutorJob) {
      timers.loop.push(.run(UnownedJob(job), self))
    }
  }

  /// The timers that the loop's thread serves, and the one owner of that thread: it ends when nobody holds these timers
  /// any more and no transfer is left.
  final class CurlTimers: Timers {
    let loop: CurlLoop

    init(loop: CurlLoop) { self.loop = loop }

    deinit { loop.close() }

    var now: MonotonicInstant { .now }

    func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
      loop.schedule(at: instant, action)
    }

    func cancel(_ token: TimerToken) { loop.cancel(token) }
  }
#endif
