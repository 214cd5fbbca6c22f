#if os(Linux)
  import ErrandHTTP
  import ErrandTLS

  /// The proxy of a transfer, and what was exchanged with it.
  struct CurlProxy {
    /// The proxy: never ``ErrandHTTP/TransportProxy/environment``.
    let setting: TransportProxy
    /// The answer in the last request. Nil if libcurl uses the credentials, or if there are none.
    var answer: ProxyAuthentication.Answer?
    /// The number of times that the proxy asked for another answer.
    var challenges = 0
    /// Whether the proxy has responded with status 407. The request is then sent again with another answer.
    var isChallenged = false
    /// Whether the body has waited for status 100 because the proxy may ask for another answer.
    var hasAwaited = false
    /// The parser for the proxy's response to CONNECT. Nil while header lines belong to the server's response.
    var tunnelParser: HeadParser?
  }

  /// The authentication of a transfer to a proxy. libcurl does not take part in it, because its versions have many
  /// defects in the scheme Digest; see the guide on libcurl.
  extension CurlTransfer {
    /// The maximum number of times that a request is sent again because its proxy asks for another answer: without an
    /// answer first, and once more if the proxy has forgotten its nonce.
    private static let mostChallenges = 2

    /// The state of the authentication to the proxy of this transfer. Nil if libcurl uses the credentials, or if there
    /// are none.
    private var proxyAuthentication: ProxyAuthentication? {
      get { loop.proxyAuthentications[proxy.setting] }
      set { loop.proxyAuthentications[proxy.setting] = newValue }
    }

    /// The value of `Proxy-Authorization` for the next start of the transfer. Nil if the request contains no
    /// credentials.
    func proxyAuthorization() -> String? {
      guard let credentials = proxy.setting.httpCredentials else { return nil }
      if proxyAuthentication == nil {
        proxyAuthentication = ProxyAuthentication(credentials, hashes: DigestHash.available)
      }
      let request = exchange.request
      let isForwarded = request.url.scheme == .http
      let place = "\(request.url.host):\(request.url.port)"
      proxy.answer = proxyAuthentication?.answer(
        method: isForwarded ? request.method.rawValue : "CONNECT",
        target: isForwarded ? request.url.absoluteTarget : place)
      if isForwarded { awaitProxy() }
      return proxy.answer?.value
    }

    /// Lets a body that can be read only once wait for status 100 if the proxy may ask for another answer. Otherwise the
    /// body would be lost if the proxy responds with status 407.
    private func awaitProxy() {
      guard proxyAuthentication?.mayAskAgain == true, upload?.hasEnded == false,
        exchange.request.body?.isReplayable == false, !proxy.hasAwaited
      else { return }
      proxy.hasAwaited = true
      expectsContinue = true
    }

    /// Takes the response of the proxy to the last request. Returns true if the proxy has asked for another answer and
    /// the request may be sent again.
    func isChallenge(_ head: ResponseHead) -> Bool {
      guard let answer = proxy.answer else { return false }
      guard head.status == 407 else {
        proxyAuthentication?.accepted(head.fields, after: answer)
        return false
      }
      guard proxyAuthentication?.isAnswerable(head.fields, after: answer) == true,
        proxy.challenges < Self.mostChallenges
      else { return false }
      proxy.challenges += 1
      return true
    }

    /// Records that libcurl opens a socket. If it asks for a tunnel, the next response is that of the proxy.
    func socketOpened() {
      guard proxyAuthentication != nil, exchange.request.url.scheme == .https else { return }
      proxy.tunnelParser = HeadParser(limits: ResponseLimits(), isHeadRequest: true, dialect: .http1, isConnect: true)
    }

    /// Takes one header line of the proxy's response to CONNECT. A malformed response is left to libcurl.
    func takeTunnelLine(_ line: UnsafeRawBufferPointer) {
      do {
        guard case .final? = try proxy.tunnelParser?.take(line), let head = proxy.tunnelParser?.head else { return }
        proxy.isChallenged = isChallenge(head)
      } catch {
        proxy.isChallenged = false
      }
    }
  }
#endif
