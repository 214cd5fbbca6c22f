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
      exchange.proxyAnswer = nil
      guard let proxy = exchange.proxy, let credentials = proxy.credentials else { return nil }
      let new = ProxyAuthentication(credentials, hashes: DigestHash.available)
      let answer = proxyAuthentications[proxy, default: new].answer(method: method, target: target())
      exchange.proxyAnswer = answer
      return answer.value
    }

    /// Takes the response of a proxy to the last request of an exchange. Returns true if the proxy has asked for another
    /// answer and the request may be sent again.
    func isChallenge(_ head: ResponseHead, to exchange: EngineExchange) -> Bool {
      guard let proxy = exchange.proxy, let answer = exchange.proxyAnswer else { return false }
      guard head.status == 407 else {
        proxyAuthentications[proxy]?.accepted(head.fields, after: answer)
        return false
      }
      guard proxyAuthentications[proxy]?.isAnswerable(head.fields, after: answer) == true,
        exchange.challenges < EngineExchange.mostChallenges
      else { return false }
      exchange.challenges += 1
      return true
    }

    /// Lets a body that can be read only once wait for status 100 if the proxy may ask for another answer. Otherwise the
    /// body would be lost if the proxy responds with status 407.
    func awaitProxy(_ exchange: EngineExchange) {
      guard let proxy = exchange.forwardingProxy, proxyAuthentications[proxy]?.mayAskAgain == true,
        exchange.upload?.hasEnded == false, exchange.exchange.request.body?.isReplayable == false,
        !exchange.hasAwaitedProxy
      else { return }
      exchange.hasAwaitedProxy = true
      exchange.expectsContinue = true
    }
  }
#endif
