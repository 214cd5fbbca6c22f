#if os(Linux)
  import ErrandHTTP
  import ErrandTLS

  /// The proxy of a transfer, and what was exchanged with it.
  struct CurlProxy {
    /// The proxy: never ``ErrandHTTP/TransportProxy/environment``.
    let setting: TransportProxy
    var dialogue = ProxyDialogue()
    /// Whether the proxy has responded with status 407. The request is then sent again with another answer.
    var isChallenged = false
    /// The parser for the proxy's response to CONNECT. Nil while header lines belong to the server's response.
    var tunnelParser: HeadParser?
  }

  /// The authentication of a transfer to a proxy. libcurl does not take part in it, because its versions have many
  /// defects in the scheme Digest; see the guide on libcurl.
  extension CurlTransfer {
    /// The value of `Proxy-Authorization` for the next start of the transfer. Nil if the request contains no
    /// credentials. Lets a forwarded body wait for status 100 if the proxy may ask for another answer.
    func proxyAuthorization() -> String? {
      let setting = proxy.setting
      guard let credentials = setting.httpCredentials else { return nil }
      let new = ProxyAuthentication(credentials, hashes: DigestHash.available)
      let request = exchange.request
      let isForwarded = request.url.scheme == .http
      let place = "\(request.url.host):\(request.url.port)"
      let value = proxy.dialogue.authorization(
        by: &loop.proxyAuthentications[setting, default: new],
        method: isForwarded ? request.method.rawValue : "CONNECT",
        target: isForwarded ? request.url.absoluteTarget : place)
      let authentication = loop.proxyAuthentications[setting]
      if isForwarded, proxy.dialogue.beginWait(of: request.body, upload, authentication) { expectsContinue = true }
      return value
    }

    /// Takes the response of the proxy to the last request. Returns true if the proxy has asked for another answer and
    /// the request may be sent again.
    func takeProxyResponse(_ head: ResponseHead) -> Bool {
      let setting = proxy.setting
      return proxy.dialogue.takeResponse(head, to: &loop.proxyAuthentications[setting])
    }

    /// Records that libcurl opens a socket. If it asks for a tunnel, the next response is that of the proxy.
    func socketOpened() {
      guard loop.proxyAuthentications[proxy.setting] != nil, exchange.request.url.scheme == .https else { return }
      proxy.tunnelParser = HeadParser(limits: ResponseLimits(), isHeadRequest: true, dialect: .http1, isConnect: true)
    }

    /// Takes one header line of the proxy's response to CONNECT. A malformed response is left to libcurl.
    func takeTunnelLine(_ line: UnsafeRawBufferPointer) {
      do {
        guard case .final? = try proxy.tunnelParser?.take(line), let head = proxy.tunnelParser?.head else { return }
        proxy.isChallenged = takeProxyResponse(head)
      } catch {
        proxy.isChallenged = false
      }
    }
  }
#endif
