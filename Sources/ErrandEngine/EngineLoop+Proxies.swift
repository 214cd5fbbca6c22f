#if os(Linux)
  import ErrandHTTP
  import ErrandTLS

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
