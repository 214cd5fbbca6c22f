#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import ErrandTLS
  import Foundation

  /// One easy handle of libcurl, which is reused for many exchanges. Constant options are set once. Other options are
  /// set only if they change.
  ///
  /// Only the loop's thread uses a handle.
  final class CurlHandle {
    /// The way in which libcurl sends the method and the body: `fields` sends a copy of the body with the headers, and
    /// `upload` reads the body through a callback.
    private enum RequestMode: Equatable { case get, head, withoutBody, fields, upload }

    /// The properties of a request that determine the requested version of HTTP.
    private struct VersionInput: Equatable {
      let isSecure: Bool
      let mayUseHTTP2: Bool
    }

    /// The maximum length in bytes of a body that is sent in one write with the request headers.
    private static let largestCopiedBody = 16 << 10
    private static let downloadBuffer = 512 << 10
    private static let uploadBuffer = 256 << 10
    /// The size in bytes of the buffer for receiving a body in memory. The buffer is four times as large as libcurl's
    /// default buffer, so libcurl needs a quarter of the reads for a body of one megabyte. The buffer is still small,
    /// because every handle allocates such a buffer.
    private static let ordinaryBuffer = 64 << 10

    let easy: UnsafeMutableRawPointer
    var transfer: CurlTransfer?

    private let errorText: UnsafeMutablePointer<CChar>
    /// The object that records whether the server has announced the end of the TLS connection. Nil until a connection
    /// is watched. The connection may outlive this handle.
    private var closeWatch: OpaquePointer?
    private let configuration: CurlConfiguration
    private let trust: CurlTrust
    /// The number that identifies the TLS handshake of this exchange. 0 if no handshake was made.
    var handshake: UInt = 0
    private var addresses: UnsafeMutablePointer<curl_slist>?
    private var hasOwnAddresses = false
    private var pins: String?
    private var certificate: Int?
    private var list = CurlFieldList()
    /// The field `Proxy-Authorization`. Nil if the last request contains none.
    private var proxyFields: UnsafeMutablePointer<curl_slist>?
    private var mode = RequestMode.get
    private var customMethod: String?
    private var connectTimeout: Int = 0
    private var totalTimeout: Int = 0
    private var bufferSize: Int = 0
    private var versionInput: VersionInput?
    private var forbidsReuse = false
    private var wantsFreshConnection = false

    init?(configuration: CurlConfiguration, trust: CurlTrust, connections: CurlConnections) {
      guard let easy = curl_easy_init() else { return nil }
      self.easy = easy
      self.configuration = configuration
      self.trust = trust
      errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
      errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
      addresses = configuration.addressList()
      setConstants()
      configuration.apply(to: easy)
      trust.apply(to: easy, hasProxy: configuration.proxy != .none)
      if let addresses { errand_easy_set_list(easy, CURLOPT_RESOLVE, addresses) }
      errand_easy_set_callbacks(
        easy, CurlCallbacks.head, CurlCallbacks.body, CurlCallbacks.upload, CurlCallbacks.beforeRequest,
        CurlCallbacks.debugMessage, Unmanaged.passUnretained(self).toOpaque())
      if configuration.proxy == .environment || !configuration.proxy.mayUseTLS {
        errand_easy_set_context_callback(easy, CurlCallbacks.tlsContext, Unmanaged.passUnretained(self).toOpaque())
      }
      errand_easy_set_socket_callbacks(
        easy, CurlCallbacks.openSocket, Unmanaged.passUnretained(self).toOpaque(), CurlCallbacks.closeSocket,
        Unmanaged.passUnretained(connections).toOpaque())
    }

    deinit {
      curl_easy_cleanup(easy)
      curl_slist_free_all(addresses)
      curl_slist_free_all(proxyFields)
      errorText.deallocate()
      errand_close_watch_release(closeWatch)
    }

    private func setConstants() {
      set(CURLOPT_NOSIGNAL, 1)
      set(CURLOPT_FOLLOWLOCATION, 0)
      set(CURLOPT_HTTP09_ALLOWED, 0)
      set(CURLOPT_PATH_AS_IS, 1)
      set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
      set(CURLOPT_HTTP_CONTENT_DECODING, 0)
      set(CURLOPT_HTTP_TRANSFER_DECODING, 0)
      set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
      set(CURLOPT_QUICK_EXIT, 1)
      if CurlVersion.running.keepsFailedLookups { set(CURLOPT_DNS_CACHE_TIMEOUT, 1) }
      set(CURLOPT_UPLOAD_BUFFERSIZE, Self.uploadBuffer)
      errand_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
      errand_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    }

    // MARK: - One request

    /// Configures libcurl for an exchange.
    func prepare(_ transfer: CurlTransfer) {
      self.transfer = transfer
      errorText.pointee = 0
      handshake = 0
      errand_easy_set_string(easy, CURLOPT_URL, transfer.exchange.request.url.string)
      if !trust.settings.isUniform { setTrust(for: transfer.exchange.request.url.origin.hostWithoutDot) }
      if transfer.addresses != nil || hasOwnAddresses { setAddresses(transfer.addresses) }
      setVersion(
        VersionInput(
          isSecure: transfer.exchange.request.url.scheme == .https,
          mayUseHTTP2: transfer.exchange.request.body == nil || CurlVersion.running.sendsBodiesOverHTTP2))
      setBody(method: transfer.exchange.request.method, transfer.exchange.request.body)
      transfer.pull(mode == .upload ? transfer.exchange.request.body : nil)
      if configuration.proxy == .environment { transfer.proxy.setting.apply(to: easy) }
      setProxyFields(transfer.proxyAuthorization())
      let fields = list.build(
        transfer.exchange.request.fields, removesContentType: mode == .fields,
        expectsContinue: transfer.expectsContinue)
      errand_easy_set_list(easy, CURLOPT_HTTPHEADER, fields)
      setTimes(connect: transfer.connectTimeout, left: transfer.exchange.call.timeLeft)
      set(&bufferSize, CURLOPT_BUFFERSIZE, transfer.exchange.sink == nil ? Self.ordinaryBuffer : Self.downloadBuffer)
    }

    /// Resets the options that the last exchange changed.
    func reset() {
      transfer = nil
      guard forbidsReuse || wantsFreshConnection else { return }
      versionInput = nil
      if forbidsReuse { set(CURLOPT_FORBID_REUSE, 0) }
      if wantsFreshConnection { set(CURLOPT_FRESH_CONNECT, 0) }
      forbidsReuse = false
      wantsFreshConnection = false
    }

    /// Makes libcurl free the data that it holds for a paused response that is no longer needed. Otherwise libcurl 7.88
    /// leaks that data if other streams of the connection continue.
    func dropPausedData() {
      transfer = nil
      curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    func forbidReuse() {
      guard !forbidsReuse else { return }
      forbidsReuse = true
      set(CURLOPT_FORBID_REUSE, 1)
    }

    func demandFreshConnection() {
      wantsFreshConnection = true
      set(CURLOPT_FRESH_CONNECT, 1)
    }

    /// Watches for the server's TLS close notification. Returns false if the TLS library cannot report the
    /// notification.
    func watchClose() -> Bool {
      if closeWatch == nil { closeWatch = errand_close_watch_make() }
      guard let closeWatch else { return false }
      return errand_tls_watch_close(easy, closeWatch)
    }

    /// Whether the server's TLS close notification has arrived.
    var sawClose: Bool { closeWatch.map { errand_close_watch_has_closed($0) } ?? false }

    var failureText: String { String(cString: errorText) }

    private func setVersion(_ input: VersionInput) {
      guard versionInput != input else { return }
      versionInput = input
      let isSecure = input.isSecure
      let asksForHTTP2 = configuration.effectiveVersion == .http2 && isSecure && input.mayUseHTTP2
      let version =
        switch configuration.effectiveVersion {
        case .http1Only: CURL_HTTP_VERSION_1_1
        case .http2PriorKnowledge: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        case .automatic, .http2: asksForHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        }
      set(CURLOPT_HTTP_VERSION, version)
      // libcurl 7.88 cannot reuse a cleartext HTTP/2 connection, because it would start HTTP/2 on the connection again.
      // A Unix socket has no addresses, so a connection that is kept open could not be identified and checked.
      let isSingleUse =
        configuration.httpVersion == .http2PriorKnowledge && !isSecure || configuration.unixSocket != nil
      set(CURLOPT_FORBID_REUSE, isSingleUse ? 1 : 0)
      set(CURLOPT_FRESH_CONNECT, isSingleUse ? 1 : 0)
      forbidsReuse = isSingleUse
      wantsFreshConnection = isSingleUse
      let mayWait = configuration.httpVersion == .http2PriorKnowledge || asksForHTTP2
      set(CURLOPT_PIPEWAIT, mayWait && !isSingleUse ? 1 : 0)
      // Only verbose output contains the stream of a request and the last stream that a server processes.
      set(CURLOPT_VERBOSE, mayWait && !isSingleUse ? 1 : 0)
    }

    /// Sets the public key pins and the client certificate for a host.
    private func setTrust(for host: String) {
      let pins = trust.pins(of: host)
      if self.pins != pins {
        self.pins = pins
        errand_easy_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pins)
      }
      let certificate = trust.settings.certificate(for: host)
      if self.certificate != certificate {
        self.certificate = certificate
        trust.apply(certificate: certificate, to: easy)
      }
    }

    /// Whether a client certificate is available if the server asks for one.
    var showsCertificate: Bool { certificate != nil }

    /// Sets the addresses that a custom resolver found for this exchange. `found` is nil if no custom resolver was
    /// used.
    private func setAddresses(_ found: String?) {
      let list = configuration.addressList(adding: found)
      errand_easy_set_list(easy, CURLOPT_RESOLVE, list)
      curl_slist_free_all(addresses)
      addresses = list
      hasOwnAddresses = found != nil
    }

    /// Sets the value of `Proxy-Authorization`, which libcurl sends only to the proxy.
    private func setProxyFields(_ authorization: String?) {
      if authorization == nil, proxyFields == nil { return }
      let fields = authorization.flatMap { value in
        // The value contains no zero byte, because it contains no control characters.
        let line = Array("Proxy-Authorization: ".utf8) + FieldOctets.bytes(of: value) + [0]
        return line.withUnsafeBufferPointer { line in
          line.withMemoryRebound(to: CChar.self) { curl_slist_append(nil, $0.baseAddress) }
        }
      }
      errand_easy_set_list(easy, CURLOPT_PROXYHEADER, fields)
      curl_slist_free_all(proxyFields)
      proxyFields = fields
    }

    private func setTimes(connect: Duration?, left: Duration?) {
      set(&connectTimeout, CURLOPT_CONNECTTIMEOUT_MS, connect.map { $0.timeoutMilliseconds } ?? Int(Int32.max))
      // The library's timers end the call at its deadline. This limit of libcurl is one second longer, and applies only
      // if the thread of the timers is blocked.
      set(&totalTimeout, CURLOPT_TIMEOUT_MS, left.map { ($0 + .seconds(1)).timeoutMilliseconds } ?? 0)
    }

    // MARK: - Method and body

    private func setBody(method: HTTPMethod, _ body: HTTPBody?) {
      let mode = Self.mode(method, body)
      if mode != self.mode { change(to: mode) }
      let implied = mode == .get ? "GET" : mode == .head ? "HEAD" : mode == .fields ? "POST" : nil
      setCustomMethod(method.rawValue == implied ? nil : method.rawValue)
      switch mode {
      case .fields: copy(body?.data ?? Data())
      case .upload: errand_easy_set_offset(easy, CURLOPT_INFILESIZE_LARGE, Self.announced(body?.length))
      case .get, .head, .withoutBody: break
      }
    }

    /// Converts a body length for libcurl, which uses -1 for an unknown length.
    private static func announced(_ length: Int64?) -> curl_off_t { length.map { curl_off_t($0) } ?? -1 }

    private static func mode(_ method: HTTPMethod, _ body: HTTPBody?) -> RequestMode {
      if let body {
        if method == .head { return .head }
        guard let data = body.data, data.count <= largestCopiedBody else { return .upload }
        return body.expectsContinue ? .upload : .fields
      }
      switch method.rawValue {
      case "GET": return .get
      case "HEAD": return .head
      case "POST", "PUT", "PATCH", "QUERY": return .fields
      default: return .withoutBody
      }
    }

    private func change(to mode: RequestMode) {
      if self.mode == .fields { errand_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, nil) }
      set(CURLOPT_HTTPGET, 1)
      if mode == .head { set(CURLOPT_NOBODY, 1) }
      if mode == .upload { set(CURLOPT_UPLOAD, 1) }
      self.mode = mode
    }

    private func setCustomMethod(_ method: String?) {
      guard customMethod != method else { return }
      customMethod = method
      errand_easy_set_string(easy, CURLOPT_CUSTOMREQUEST, method)
    }

    private func copy(_ body: Data) {
      errand_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, body.count)
      body.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress {
          _ = errand_easy_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, base)
        } else {
          _ = errand_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, "")
        }
      }
    }

    // MARK: - Options

    private func set(_ option: CURLoption, _ value: Int) {
      errand_easy_set_long(easy, option, value)
    }

    private func set(_ known: inout Int, _ option: CURLoption, _ value: Int) {
      guard known != value else { return }
      known = value
      set(option, value)
    }
  }

  extension Duration {
    /// The duration in whole milliseconds for libcurl. At least 1, because 0 means no limit.
    fileprivate var timeoutMilliseconds: Int { max(1, Int(clampedMilliseconds)) }
  }
#endif
