#if os(Linux)
  import ErrandDecoding
  public import ErrandHTTP
  import ErrandSupport

  /// The transport that uses libcurl: HTTP/1.1 and HTTP/2, with one thread for all exchanges. It is registered under
  /// the name `curl`, and supports SOCKS and https proxies, which the default transport on Linux does not.
  ///
  /// The transport enforces the framing rules of RFC 9112. It decodes gzip, deflate, brotli and zstd. It sends a
  /// request again only if the server cannot have received the request, or if the request may be repeated.
  ///
  /// The thread starts with the first exchange and also runs ``timers``. The thread ends when the transport and its
  /// timers are released and no exchange is left.
  public final class CurlTransport: Transport, ExecutorProviding {
    private let current: LoopHolder<CurlLoop>
    private let resolver: (any NameResolver)?

    /// Makes a transport with the standard configuration.
    public convenience init() { self.init(over: CurlLoop(CurlConfiguration(), .standard)) }

    /// Makes a transport that uses the given event loop. No other transport may use this loop.
    init(over loop: CurlLoop) {
      current = LoopHolder(loop)
      resolver = nil
    }

    /// Makes a transport.
    ///
    /// The custom resolver is not called for numeric addresses, for hosts in ``CurlConfiguration/addressOverrides``, or
    /// if requests go to a proxy or a Unix socket.
    /// - Parameters:
    ///   - configuration: The settings of the transport.
    ///   - resolver: A custom resolver for the addresses of hosts; nil for the system's resolver.
    /// - Throws: ``CurlConfiguration/Invalid`` if a setting is invalid.
    public init(
      _ configuration: CurlConfiguration, resolver: (any NameResolver)? = nil
    ) throws(CurlConfiguration.Invalid) {
      current = LoopHolder(try CurlLoop.makeLoop(configuration))
      self.resolver = resolver
    }

    /// The current settings of the transport.
    public var configuration: CurlConfiguration { current.loop.configuration }

    /// Changes the configuration. Running exchanges keep the old configuration. Later exchanges use a new thread and
    /// new connections.
    /// - Throws: ``CurlConfiguration/Invalid`` if a setting is invalid. The old configuration then stays in use.
    public func update(_ configuration: CurlConfiguration) throws(CurlConfiguration.Invalid) {
      try current.update(configuration)
    }

    /// Reads the files of authorities and client certificates again, for example after a renewal. Running exchanges
    /// keep the old certificates. Later exchanges use no connection that was made with the old certificates.
    /// - Throws: ``CurlConfiguration/Invalid`` if a file cannot be used. The old certificates then stay in use.
    public func reload() throws(CurlConfiguration.Invalid) { try current.reload() }

    /// The capabilities of the transport. It cannot distinguish kinds of networks, such as cellular networks.
    public var capabilities: TransportCapabilities {
      [.bodySink, .informational, .trailers, .http2, .proxy, .metrics, .progress, .observesStop, .bodySource]
    }

    /// The content codings that the transport requests: gzip, br and zstd. It also decodes deflate, but does not
    /// request it.
    public var contentCodings: [String] { ContentCoding.announced }

    /// Timers that run on the transport's thread. Nil if the system had no memory or file descriptor for libcurl.
    public var timers: (any Timers)? { current.timers }

    /// A digest of the client certificates, the Unix socket and the address overrides. Nil if none of them is
    /// configured. ``update(_:)`` and ``reload()`` may change the digest.
    public var identity: String? { current.loop.identity }

    /// An executor that runs tasks on the transport's own thread. A task that prefers this executor needs no thread
    /// switch.
    ///
    /// Use this executor for many small calls in a row, such as in a crawler or a proxy. Code on this executor must be
    /// short and must not block, because all exchanges wait for it. Large bodies are decoded on other threads.
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
      try CurlRequestCheck.check(exchange.request)
      guard let thread = current.usableThread else {
        throw TransportFailure(
          .other, "No memory or file descriptor is available for libcurl.", isCertainlyNotSent: true)
      }
      let loop = thread.loop
      var addresses: String?
      var lookup = Duration.zero
      if let resolver {
        let begun = exchange.call.timers.now
        addresses = try await CurlResolving(exchange, loop).addresses(by: resolver)
        lookup = begun.duration(to: exchange.call.timers.now)
      }
      let transfer = CurlTransfer(exchange, loop: loop, addresses: addresses, lookup: lookup)
      try await exchange.call.wait(asking: { _ in loop.push(.abort(transfer)) }) { wakeup in
        transfer.wakeup = wakeup
        loop.push(.submit(transfer))
      }
      return try withExtendedLifetime(thread) { try transfer.outcome() }
    }
  }

  /// Rejects requests that libcurl would send unchecked or would silently change, before libcurl receives them.
  enum CurlRequestCheck {
    /// The maximum length of a field value in bytes. libcurl 8.13.0 to 8.21.0 silently omits longer fields from the
    /// request.
    private static let longestField = 300_000
    private static let refusal = CurlVersion.running.refusal

    static func check(_ request: HTTPRequest) throws(TransportFailure) {
      if let refusal { throw RequestCheck.refused(refusal) }
      for field in request.fields.all where field.value.utf8.count > longestField {
        throw RequestCheck.refused("the value of \(field.name) has more than \(longestField) bytes")
      }
      try RequestCheck.check(request)
    }
  }
#endif
