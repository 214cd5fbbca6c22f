#if os(Linux)
  import ErrandHTTP

  /// The HTTP proxy of one exchange.
  struct EngineProxy: Sendable, Hashable, CustomReflectable {
    /// The host and the port of the proxy.
    let origin: HTTPURL.Origin
    /// The user and the password. Nil if none are set.
    let credentials: ProxyCredentials?

    /// The mirror for `dump(_:)`, without the credentials.
    var customMirror: Mirror { Mirror(self, children: ["origin": origin.description], displayStyle: .struct) }

    /// Returns the proxy for an exchange with an origin. Returns nil if the exchange needs no proxy.
    /// - Parameter environment: The value of an environment variable.
    /// - Throws: A failure of the kind `unsupported` if the proxy is no HTTP proxy.
    static func of(
      _ setting: TransportProxy, for origin: HTTPURL.Origin,
      environment: (String) -> String? = TransportProxy.variable
    ) throws(TransportFailure) -> EngineProxy? {
      switch setting.chosen(for: origin, environment: environment) {
      case .none, .environment: nil
      case .url(let url, let user, let password): try EngineProxy(url, user, password, for: origin)
      }
    }

    private init(
      _ url: String, _ user: String?, _ password: String?, for origin: HTTPURL.Origin
    ) throws(TransportFailure) {
      guard let address = ProxyAddress(url) else {
        // The configuration rejects such a URL in its own setting, so the URL comes from the environment.
        throw TransportFailure(
          .proxy,
          "The proxy for \(origin) cannot be used, because its URL in the environment does not have the form "
            + "http://host:port; correct the variable \(origin.scheme)_proxy or all_proxy.",
          isCertainlyNotSent: true)
      }
      guard address.scheme == .http else {
        throw TransportFailure(
          .unsupported,
          "The engine supports no proxies with the scheme \(address.scheme.rawValue); choose the transport \"curl\".",
          isCertainlyNotSent: true)
      }
      self.origin = address.origin
      credentials = ProxyCredentials(user, password)
    }
  }
#endif
