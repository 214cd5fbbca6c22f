#if os(Linux)
  import ErrandDecoding
  public import ErrandHTTP
  import ErrandSupport

  /// The transport of this library's own HTTP/1.1 engine, over sockets of Linux. One thread carries all exchanges.
  ///
  /// It is strict about the framing of RFC 9112, undoes gzip, deflate, brotli and zstd, and sends no request again that
  /// the server may have seen, unless it may be repeated. It speaks no TLS, no HTTP/2 and to no proxy yet: such a
  /// request fails with ``ErrandHTTP/TransportFailure/Kind/unsupported`` before anything is sent.
  ///
  /// The thread starts with the first exchange, serves ``timers`` too, and ends when nothing holds the transport or its
  /// timers any more and no exchange is left.
  ///
  /// ```swift
  /// client.configure { $0.transport = .named("engine") }
  /// ```
  public final class EngineTransport: Transport, ThreadLending {
    private struct State: Sendable {
      var configuration: EngineConfiguration
      var timers: EngineTimers
      var executor: EngineExecutor
    }

    /// The name under which it is registered.
    public static let name = "engine"

    private let state: Locked<State>
    private let resolver: (any NameResolver)?

    /// Makes a transport with the standard configuration.
    public convenience init() { self.init(over: EngineLoop(EngineConfiguration(), [:]), resolver: nil) }

    /// Makes a transport.
    /// - Parameters:
    ///   - configuration: How it reaches servers.
    ///   - resolver: Finds the addresses of hosts; nil for the system. It is not asked about addresses in numbers,
    /// about
    ///     hosts that ``EngineConfiguration/addressOverrides`` names, nor if requests go to a Unix socket.
    /// - Throws: ``EngineConfiguration/Invalid`` where a setting cannot be honoured.
    public convenience init(
      _ configuration: EngineConfiguration, resolver: (any NameResolver)? = nil
    ) throws(EngineConfiguration.Invalid) {
      self.init(over: EngineLoop(configuration, try configuration.validated()), resolver: resolver)
    }

    init(over loop: EngineLoop, resolver: (any NameResolver)?) {
      state = Locked(Self.state(loop))
      self.resolver = resolver
    }

    /// How it reaches servers.
    public var configuration: EngineConfiguration { state.withLock { $0.configuration } }

    /// Changes how it reaches servers. Exchanges that run keep what they began with. Later ones have a thread and
    /// connections that know the new configuration only.
    /// - Throws: ``EngineConfiguration/Invalid`` where a setting cannot be honoured; nothing has changed then.
    public func update(_ configuration: EngineConfiguration) throws(EngineConfiguration.Invalid) {
      let new = Self.state(EngineLoop(configuration, try configuration.validated()))
      let old = state.withLock { state in
        let old = state
        if configuration != old.configuration { state = new }
        return old
      }
      _ = old  // released here, outside the lock
    }

    /// What it can do: neither HTTP/2 nor proxies.
    public var capabilities: TransportCapabilities {
      [.bodySink, .informational, .trailers, .metrics, .progress, .observesStop, .bodySource]
    }

    /// gzip, br and zstd. deflate is undone, too, but not asked for.
    public var contentCodings: [String] { ContentCoding.announced }

    /// Timers that the transport's own thread serves.
    public var timers: (any Timers)? {
      let timers = state.withLock { $0.timers }
      return timers.loop.isUsable ? timers : nil
    }

    /// The transport's own thread as a place for tasks: a task that prefers it pays for no change of threads.
    ///
    /// For bulk work: a thousand small calls in a row, a crawler, a proxy. What runs there must be short and must not
    /// block, since all exchanges wait meanwhile.
    ///
    /// ```swift
    /// await withTaskExecutorPreference(transport.executor) { … try await client.send(request) … }
    /// ```
    ///
    /// After ``update(_:)`` it is another one; tasks on the former run to their end.
    public var executor: any TaskExecutor { state.withLock { $0.executor } }

    /// Sends the request and brings the response, whatever its status.
    /// - Throws: ``TransportFailure``, ``CallState/Stopped``, ``BodySourceFailure``, or what the exchange's sink
    ///   threw.
    public func send(_ exchange: Exchange) async throws -> HTTPResponse {
      try RequestCheck.check(exchange.request)
      guard exchange.request.url.scheme == .http else {
        throw EngineFailure.lacks("tls", "reach \(exchange.request.url.origin) over TLS")
      }
      let timers = try usableTimers()
      let loop = timers.loop
      let found = try await addresses(of: exchange, loop)
      let running = EngineExchange(exchange, addresses: found?.addresses, lookup: found?.took ?? .zero)
      try await exchange.call.wait(asking: { _ in loop.push(.abort(running)) }) { wakeup in
        running.wakeup = wakeup
        loop.push(.submit(running))
      }
      return try withExtendedLifetime(timers) { try running.outcome() }
    }

    /// What the resolver says of an exchange's host, and how long it took; nil if it is not asked.
    private func addresses(
      of exchange: Exchange, _ loop: EngineLoop
    ) async throws -> (addresses: [SocketAddress], took: Duration)? {
      let origin = exchange.request.url.origin
      guard let resolver, loop.configuration.unixSocket == nil, loop.overrides[origin] == nil,
        SocketAddress(numeric: origin.host, port: origin.port) == nil
      else { return nil }
      let begun = exchange.call.timers.now
      let found = try await ResolverLookup(exchange).addresses(by: resolver) {
        SocketAddress(numeric: $0, port: origin.port) != nil
      }
      let addresses = found.compactMap { SocketAddress(numeric: $0, port: origin.port) }
      return (addresses, begun.duration(to: exchange.call.timers.now))
    }

    /// The timers of a loop that can be used. If the system had no room for one, it is asked once more.
    private func usableTimers() throws(TransportFailure) -> EngineTimers {
      let old = state.withLock { $0 }
      if old.timers.loop.isUsable { return old.timers }
      let new = Self.state(EngineLoop(old.configuration, old.timers.loop.overrides))
      guard new.timers.loop.isUsable else {
        throw TransportFailure(.other, FailureText.outOfRoom, isCertainlyNotSent: true)
      }
      return state.withLock { state in
        if state.timers === old.timers { state = new }
        return state.timers
      }
    }

    private static func state(_ loop: EngineLoop) -> State {
      let timers = EngineTimers(loop: loop)
      return State(configuration: loop.configuration, timers: timers, executor: EngineExecutor(timers: timers))
    }
  }
#endif
