#if os(Linux)
  import ErrandHTTP
  import ErrandTLS

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

  // The authentication of exchanges to proxies.
  extension EngineLoop {
    /// Returns the value of `Proxy-Authorization` for the next request of an exchange to its proxy. Returns nil if the
    /// request contains no credentials.
    func authorization(
      of exchange: EngineExchange, method: String, target: @autoclosure () -> String
    ) -> String? {
      guard let proxy = exchange.proxy, let credentials = proxy.credentials else { return nil }
      let new = ProxyAuthentication(credentials, hashes: DigestHash.available)
      return exchange.proxyDialogue.authorization(
        by: &proxyAuthentications[proxy, default: new], method: method, target: target())
    }

    /// Takes the response of a proxy to the last request of an exchange. Returns true if the proxy has asked for
    /// another answer and the request may be sent again.
    func takeProxyResponse(_ head: ResponseHead, to exchange: EngineExchange) -> Bool {
      guard let proxy = exchange.proxy else { return false }
      return exchange.proxyDialogue.takeResponse(head, to: &proxyAuthentications[proxy])
    }

    /// Lets the body of an exchange wait for status 100 if its proxy may ask for another answer.
    func awaitProxy(_ exchange: EngineExchange) {
      guard let proxy = exchange.forwardingProxy else { return }
      let (body, authentication) = (exchange.exchange.request.body, proxyAuthentications[proxy])
      if exchange.proxyDialogue.beginWait(of: body, exchange.upload, authentication) { exchange.expectsContinue = true }
    }
  }
#endif
