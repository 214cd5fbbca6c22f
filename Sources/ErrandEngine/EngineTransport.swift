#if os(Linux)
  import ErrandDecoding
  public import ErrandHTTP
  import ErrandSupport

  /// The default transport on Linux: this library's own HTTP engine, on Linux sockets and OpenSSL. One thread runs all
  /// exchanges.
  ///
  /// The engine checks the framing of RFC 9112 and RFC 9113 strictly. It decodes gzip, deflate, brotli and zstd. It
  /// sends a request again only if the server cannot have processed the request, or if the request may be repeated.
  /// Proxies are supported if they are HTTP proxies.
  ///
  /// Over TLS, the engine offers HTTP/2 unless ``EngineConfiguration/httpVersion`` excludes it. Over HTTP/2, requests
  /// to one server share a connection, and a paused response body keeps at most 1 MiB in memory and stops no other
  /// body.
  ///
  /// The thread starts with the first exchange and also runs ``timers``. It ends when the transport and its timers are
  /// released and no exchange is left.
  ///
  /// The transport with the standard configuration is registered under the name `engine`.
  ///
  /// ```swift
  /// var settings = EngineConfiguration()
  /// settings.proxy = .environment
  /// let transport = try EngineTransport(settings)
  /// client.configure { $0.transport = .own(transport) }
  /// ```
  public final class EngineTransport: Transport, ExecutorProviding {
    /// The name under which the transport is registered.
    public static let name = "engine"

    private let current: LoopHolder<EngineLoop>
    private let resolver: (any NameResolver)?

    /// Makes a transport with the standard configuration.
    public convenience init() { self.init(over: EngineLoop(EngineConfiguration()), resolver: nil) }

    /// Makes a transport.
    ///
    /// The custom resolver is not called for numeric addresses, for hosts in ``EngineConfiguration/addressOverrides``,
    /// or if requests go to a proxy or a Unix domain socket.
    /// - Parameters:
    ///   - configuration: The settings of the transport.
    ///   - resolver: A custom resolver for the addresses of hosts; nil for the system's resolver.
    /// - Throws: ``EngineConfiguration/Invalid`` if a setting is invalid.
    public convenience init(
      _ configuration: EngineConfiguration, resolver: (any NameResolver)? = nil
    ) throws(EngineConfiguration.Invalid) {
      self.init(over: try EngineLoop.makeLoop(configuration), resolver: resolver)
    }

    init(over loop: EngineLoop, resolver: (any NameResolver)?) {
      current = LoopHolder(loop)
      self.resolver = resolver
    }

    /// The current settings of the transport.
    public var configuration: EngineConfiguration { current.loop.configuration }

    /// Changes the configuration. Running exchanges keep the old configuration. Later exchanges use a new thread and
    /// new connections.
    /// - Throws: ``EngineConfiguration/Invalid`` if a setting is invalid. The old configuration then stays in use.
    public func update(_ configuration: EngineConfiguration) throws(EngineConfiguration.Invalid) {
      try current.update(configuration)
    }

    /// Reads the files of authorities and client certificates again, for example after a renewal. Running exchanges
    /// keep the old certificates. Later exchanges use no connection that was made with the old certificates.
    /// - Throws: ``EngineConfiguration/Invalid`` if a file cannot be used. The old certificates then stay in use.
    public func reload() throws(EngineConfiguration.Invalid) { try current.reload() }

    /// The capabilities of the transport. It cannot distinguish kinds of networks, such as cellular networks.
    public var capabilities: TransportCapabilities {
      [.bodySink, .informational, .trailers, .http2, .proxy, .metrics, .progress, .observesStop, .bodySource]
    }

    /// The content codings that the transport requests: gzip, br and zstd. It also decodes deflate, but does not
    /// request it.
    public var contentCodings: [String] { ContentCoding.announced }

    /// Timers that run on the transport's own thread. Nil if the system has no resources for the thread.
    public var timers: (any Timers)? { current.timers }

    /// A digest of the client certificates, the Unix socket and the address overrides. Nil if none of them is
    /// configured. ``update(_:)`` and ``reload()`` may change the digest.
    public var identity: String? { current.loop.identity }

    /// An executor that runs tasks on the transport's own thread. A task that prefers this executor needs no thread
    /// switch.
    ///
    /// Use this executor for bulk work: a thousand small calls in a row, a crawler, a proxy. Code on this executor must
    /// be short and must not block, because all exchanges wait for it.
    ///
    /// ```swift
    /// await withTaskExecutorPreference(transport.executor) { … try await client.send(request) … }
    /// ```
    ///
    /// After ``update(_:)``, this property returns another executor. Tasks on the old executor run to their end.
    public var executor: any TaskExecutor { current.thread }

    /// Sends the request and returns the response, whatever its status is.
    /// - Throws: ``TransportFailure``, ``CallState/Stopped``, ``BodySourceFailure``, or the error that the exchange's
    ///   sink threw.
    public func send(_ exchange: Exchange) async throws -> HTTPResponse {
      let thread = try usableThread(for: exchange)
      let found = resolver == nil ? nil : try await resolved(exchange, thread.loop)
      let running = try running(exchange, found, thread.loop)
      try await exchange.call.wait(asking: { _ in thread.loop.push(.abort(running)) }) { wakeup in
        running.wakeup = wakeup
        thread.loop.push(.submit(running))
      }
      return try withExtendedLifetime(thread) { try running.outcome() }
    }

    /// Checks the request and returns the thread for it.
    @inline(never)  // frame size
    private func usableThread(for exchange: Exchange) throws -> LoopThread<EngineLoop> {
      try RequestCheck.check(exchange.request)
      guard let thread = current.usableThread else {
        throw TransportFailure(.other, FailureText.outOfResources, isCertainlyNotSent: true)
      }
      return thread
    }

    @inline(never)  // frame size
    private func running(_ exchange: Exchange, _ found: Resolved?, _ loop: EngineLoop) throws -> EngineExchange {
      let proxy = try EngineProxy.of(loop.configuration.proxy, for: exchange.request.url.origin)
      return EngineExchange(exchange, proxy: proxy, addresses: found?.addresses, lookup: found?.took ?? .zero)
    }

    /// The addresses that the custom resolver found, and the duration of the lookup.
    private typealias Resolved = (addresses: [SocketAddress], took: Duration)

    /// Asks the custom resolver for the addresses of an exchange's host. Returns nil if no custom resolver is needed.
    @inline(never)  // frame size
    private func resolved(_ exchange: Exchange, _ loop: EngineLoop) async throws -> Resolved? {
      let origin = exchange.request.url.origin
      guard let resolver, loop.configuration.unixSocket == nil, loop.overrides[origin] == nil,
        SocketAddress(numeric: origin.host, port: origin.port) == nil,
        try EngineProxy.of(loop.configuration.proxy, for: origin) == nil
      else { return nil }
      let begun = exchange.call.timers.now
      let found = try await ResolverLookup(exchange).addresses(by: resolver) {
        SocketAddress(numeric: $0, port: origin.port) != nil
      }
      let addresses = found.compactMap { SocketAddress(numeric: $0, port: origin.port) }
      return (addresses, begun.duration(to: exchange.call.timers.now))
    }
  }
#endif
