#if os(Linux)
  import ErrandHTTP
  import ErrandTLS

  /// The authentication of a transfer to a proxy. libcurl does not take part in it, because its versions have many
  /// defects in the scheme Digest; see the guide on libcurl.
  extension CurlTransfer {
    /// The maximum number of times that a request is sent again because its proxy asks for another answer: without an
    /// answer first, and once more if the proxy has forgotten its nonce.
    private static let mostChallenges = 2

    /// The state of the authentication to the proxy of this transfer. Nil if libcurl uses the credentials, or if there
    /// are none.
    private var proxyAuthentication: ProxyAuthentication? {
      get { loop.proxyAuthentications[proxy] }
      set { loop.proxyAuthentications[proxy] = newValue }
    }

    /// The value of `Proxy-Authorization` for the next start of the transfer. Nil if the request contains no
    /// credentials.
    func proxyAuthorization() -> String? {
      guard let credentials = proxy.httpCredentials else { return nil }
      if proxyAuthentication == nil {
        proxyAuthentication = ProxyAuthentication(credentials, hashes: DigestHash.available)
      }
      let request = exchange.request
      let isForwarded = request.url.scheme == .http
      let place = "\(request.url.host):\(request.url.port)"
      proxyAnswer = proxyAuthentication?.answer(
        method: isForwarded ? request.method.rawValue : "CONNECT",
        target: isForwarded ? request.url.absoluteTarget : place)
      if isForwarded { awaitProxy() }
      return proxyAnswer?.value
    }

    /// Lets a body that can be read only once wait for status 100 if the proxy may ask for another answer. Otherwise the
    /// body would be lost if the proxy responds with status 407.
    private func awaitProxy() {
      guard proxyAuthentication?.mayAskAgain == true, upload?.hasEnded == false,
        exchange.request.body?.isReplayable == false, !hasAwaitedProxy
      else { return }
      hasAwaitedProxy = true
      expectsContinue = true
    }

    /// Takes the response of the proxy to the last request. Returns true if the proxy has asked for another answer and
    /// the request may be sent again.
    func isChallenge(_ head: ResponseHead) -> Bool {
      guard let proxyAnswer else { return false }
      guard head.status == 407 else {
        proxyAuthentication?.accepted(head.fields, after: proxyAnswer)
        return false
      }
      guard proxyAuthentication?.isAnswerable(head.fields, after: proxyAnswer) == true,
        challenges < Self.mostChallenges
      else { return false }
      challenges += 1
      return true
    }

    /// Records that libcurl opens a socket. If it asks for a tunnel, the next response is that of the proxy.
    func socketOpened() {
      guard proxyAuthentication != nil, exchange.request.url.scheme == .https else { return }
      tunnelParser = HeadParser(limits: ResponseLimits(), isHeadRequest: true, dialect: .http1)
    }

    /// Takes one header line of the proxy's response to CONNECT. A malformed response is left to libcurl.
    func takeTunnelLine(_ line: UnsafeRawBufferPointer) {
      do {
        guard case .final? = try tunnelParser?.take(line), let head = tunnelParser?.head else { return }
        isChallenged = isChallenge(head)
      } catch {
        isChallenged = false
      }
    }
  }
#endif
