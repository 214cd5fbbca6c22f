#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Foundation

  /// One easy handle of libcurl, used again and again. What never changes is set once; the rest only where it differs.
  ///
  /// Only the loop's thread touches it.
  final class CurlHandle {
    /// How the request's method and body are told to libcurl.
    private enum Shape: Equatable { case get, head, bare, fields, upload }

    /// The two facts of a request that decide which version of HTTP is asked for.
    private struct VersionInput: Equatable {
      let isSecure: Bool
      let mayUseHTTP2: Bool
    }

    /// Bodies up to this size travel with the head in one write.
    private static let largestCopiedBody = 16 << 10
    private static let downloadBuffer = 512 << 10
    private static let uploadBuffer = 256 << 10
    /// Larger than the pieces that libcurl hands over, so that a body of a megabyte takes a quarter of the reads; small
    /// enough for the heap, since every handle allocates it.
    private static let ordinaryBuffer = 64 << 10

    let easy: UnsafeMutableRawPointer
    var transfer: CurlTransfer?

    private let errorText: UnsafeMutablePointer<CChar>
    /// Made when a TLS connection is watched for the first time. A connection may end after the handle.
    private var closeWatch: OpaquePointer?
    private let configuration: CurlConfiguration
    private let trust: CurlTrust
    /// The number of the TLS handshake that was made for this exchange; 0 for none.
    var handshake: UInt = 0
    private var addresses: UnsafeMutablePointer<curl_slist>?
    private var hasOwnAddresses = false
    private var pins: String?
    private var certificate: Int?
    private var list = CurlFieldList()
    private var shape = Shape.get
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
        CurlCallbacks.words, Unmanaged.passUnretained(self).toOpaque())
      if configuration.checksAlternativeNames {
        errand_easy_set_context_callback(easy, CurlCallbacks.tlsContext, Unmanaged.passUnretained(self).toOpaque())
      }
      errand_easy_set_socket_callbacks(
        easy, CurlCallbacks.openSocket, Unmanaged.passUnretained(self).toOpaque(), CurlCallbacks.closeSocket,
        Unmanaged.passUnretained(connections).toOpaque())
    }

    deinit {
      curl_easy_cleanup(easy)
      curl_slist_free_all(addresses)
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
      set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
      set(CURLOPT_QUICK_EXIT, 1)
      if CurlVersion.running.keepsFailedLookups { set(CURLOPT_DNS_CACHE_TIMEOUT, 1) }
      set(CURLOPT_UPLOAD_BUFFERSIZE, Self.uploadBuffer)
      errand_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https")
      errand_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    }

    // MARK: - One request

    /// Tells libcurl what to send for an exchange.
    func prepare(_ transfer: CurlTransfer) {
      self.transfer = transfer
      errorText.pointee = 0
      handshake = 0
      errand_easy_set_string(easy, CURLOPT_URL, transfer.exchange.request.url.string)
      if !trust.isUniform { setTrust(for: transfer.exchange.request.url.hostWithoutDot) }
      if transfer.addresses != nil || hasOwnAddresses { setAddresses(transfer.addresses) }
      setVersion(
        VersionInput(
          isSecure: transfer.exchange.request.url.scheme == .https,
          mayUseHTTP2: transfer.exchange.request.body == nil || CurlVersion.running.sendsBodiesOverHTTP2))
      setBody(method: transfer.exchange.request.method, transfer.exchange.request.body)
      transfer.pull(shape == .upload ? transfer.exchange.request.body : nil)
      let fields = list.build(
        transfer.exchange.request.fields, removesContentType: shape == .fields,
        expectsContinue: transfer.expectsContinue)
      errand_easy_set_list(easy, CURLOPT_HTTPHEADER, fields)
      setTimes(connect: transfer.connectTimeout, left: transfer.exchange.call.timeLeft)
      set(&bufferSize, CURLOPT_BUFFERSIZE, transfer.exchange.sink == nil ? Self.ordinaryBuffer : Self.downloadBuffer)
    }

    /// Lets go of what the last exchange left behind.
    func reset() {
      transfer = nil
      guard forbidsReuse || wantsFreshConnection else { return }
      versionInput = nil
      if forbidsReuse { set(CURLOPT_FORBID_REUSE, 0) }
      if wantsFreshConnection { set(CURLOPT_FRESH_CONNECT, 0) }
      forbidsReuse = false
      wantsFreshConnection = false
    }

    /// Has libcurl free what it holds back of a paused answer, since nobody takes it any more: libcurl 7.88 forgets it
    /// where other streams go on over the connection.
    func dropWhatIsHeld() {
      transfer = nil
      curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    /// Has the connection closed after this exchange.
    func forbidReuse() {
      guard !forbidsReuse else { return }
      forbidsReuse = true
      set(CURLOPT_FORBID_REUSE, 1)
    }

    /// Has this exchange use a connection of its own.
    func demandFreshConnection() {
      wantsFreshConnection = true
      set(CURLOPT_FRESH_CONNECT, 1)
    }

    /// Watches for the server's word that it closes TLS. False where the TLS library cannot tell.
    func watchClose() -> Bool {
      if closeWatch == nil { closeWatch = errand_close_watch_make() }
      guard let closeWatch else { return false }
      return errand_tls_watch_close(easy, closeWatch)
    }

    /// Whether that word came.
    var sawClose: Bool { closeWatch.map { errand_close_watch_has_closed($0) } ?? false }

    /// What libcurl said about the last failure.
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
      // libcurl 7.88 cannot use a cleartext HTTP/2 connection a second time: it begins HTTP/2 on it once more.
      // The ends of a Unix socket have no names, so a kept connection could not be told from another and looked at.
      let isSingleUse =
        configuration.httpVersion == .http2PriorKnowledge && !isSecure || configuration.unixSocket != nil
      set(CURLOPT_FORBID_REUSE, isSingleUse ? 1 : 0)
      set(CURLOPT_FRESH_CONNECT, isSingleUse ? 1 : 0)
      forbidsReuse = isSingleUse
      wantsFreshConnection = isSingleUse
      let mayWait = configuration.httpVersion == .http2PriorKnowledge || asksForHTTP2
      set(CURLOPT_PIPEWAIT, mayWait && !isSingleUse ? 1 : 0)
      // Only so it says which stream a request has, and which is the last that a server answers.
      set(CURLOPT_VERBOSE, mayWait && !isSingleUse ? 1 : 0)
    }

    /// Pins and certificate, which hang on the host.
    private func setTrust(for host: String) {
      let pins = trust.pins(of: host)
      if self.pins != pins {
        self.pins = pins
        errand_easy_set_string(easy, CURLOPT_PINNEDPUBLICKEY, pins)
      }
      let certificate = trust.certificate(for: host)
      if self.certificate != certificate {
        self.certificate = certificate
        trust.apply(certificate: certificate, to: easy)
      }
    }

    /// Whether a client certificate is shown to a server that asks.
    var showsCertificate: Bool { certificate != nil }

    /// What a resolver found for this exchange; nil where none was asked.
    private func setAddresses(_ found: String?) {
      let list = configuration.addressList(adding: found)
      errand_easy_set_list(easy, CURLOPT_RESOLVE, list)
      curl_slist_free_all(addresses)
      addresses = list
      hasOwnAddresses = found != nil
    }

    private func setTimes(connect: Duration?, left: Duration?) {
      set(&connectTimeout, CURLOPT_CONNECTTIMEOUT_MS, connect.map { $0.timeoutMilliseconds } ?? Int(Int32.max))
      // The call itself ends at its deadline; this is for a clock of timers that has lost its thread.
      set(&totalTimeout, CURLOPT_TIMEOUT_MS, left.map { ($0 + .seconds(1)).timeoutMilliseconds } ?? 0)
    }

    // MARK: - Method and body

    private func setBody(method: HTTPMethod, _ body: HTTPBody?) {
      let shape = Self.shape(method, body)
      if shape != self.shape { change(to: shape) }
      let implied = shape == .get ? "GET" : shape == .head ? "HEAD" : shape == .fields ? "POST" : nil
      setCustomMethod(method.rawValue == implied ? nil : method.rawValue)
      switch shape {
      case .fields: copy(body?.data ?? Data())
      case .upload: errand_easy_set_offset(easy, CURLOPT_INFILESIZE_LARGE, Self.announced(body?.length))
      case .get, .head, .bare: break
      }
    }

    /// A length for libcurl, where -1 means that nobody knows it.
    private static func announced(_ length: Int64?) -> curl_off_t { length.map { curl_off_t($0) } ?? -1 }

    private static func shape(_ method: HTTPMethod, _ body: HTTPBody?) -> Shape {
      if let body {
        if method == .head { return .head }
        guard let data = body.data, data.count <= largestCopiedBody else { return .upload }
        return body.expectsContinue ? .upload : .fields
      }
      switch method.rawValue {
      case "GET": return .get
      case "HEAD": return .head
      case "POST", "PUT", "PATCH": return .fields
      default: return .bare
      }
    }

    private func change(to shape: Shape) {
      if self.shape == .fields { errand_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, nil) }
      set(CURLOPT_HTTPGET, 1)
      if shape == .head { set(CURLOPT_NOBODY, 1) }
      if shape == .upload { set(CURLOPT_UPLOAD, 1) }
      self.shape = shape
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
    /// Whole milliseconds for libcurl, at least one, since zero means no bound there.
    fileprivate var timeoutMilliseconds: Int { max(1, Int(clampedMilliseconds)) }
  }
#endif
