#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Glibc

  /// Maps libcurl's codes to failures that a caller can handle.
  struct CurlFailure {
    /// libcurl's code.
    let code: CURLcode
    /// libcurl's message. It never contains parts of a request or the proxy settings of the environment.
    let text: String
    /// The system's error number, or 0.
    var systemError: Int = 0
    /// OpenSSL's verification result for the certificate, or 0.
    var verifyResult: Int = 0
    /// Whether the server asked for a client certificate and received none.
    var lackedCertificate = false
    /// Whether a client certificate was available for the host.
    var showedCertificate = false
    /// Why the address policy prevented the connection; nil if it did not.
    var refusal: String?
    /// Whether the system had no memory or file descriptor for the socket.
    var lacksRoom = false
    /// Whether requests may go to a proxy.
    var hasProxy = false
    /// The path of the Unix socket that is used instead of the host and port; nil if there is none.
    var unixSocket: String?
    /// Whether a connection was established and the request was started.
    var mayHaveBeenSent = false
    /// Whether a line of the response has arrived.
    var hasBegun = false
    /// Whether the final response headers are complete.
    var isFinal = false
    /// The origin of the request.
    var origin: HTTPURL.Origin

    /// The response of a transfer that libcurl has finished, or its failure.
    static func outcome(of transfer: CurlTransfer, handle: CurlHandle, code: CURLcode) throws -> HTTPResponse {
      if let failure = transfer.failure { throw failure }
      if code != CURLE_OK { transfer.readLastWords() }
      if code == CURLE_OK || transfer.hasWholeAnswer { return try answer(of: transfer) }
      if transfer.isStale { throw allStale(isCertainlyNotSent: !transfer.mayHaveBeenSent) }
      if transfer.isNotTaken, code != CURLE_OPERATION_TIMEDOUT { throw notTaken(transfer) }
      let call = transfer.exchange.call
      if code == CURLE_OPERATION_TIMEDOUT, call.timeLeft == .zero { call.stop(.expired) }
      throw CurlFailure(transfer, handle, code).transportFailure
    }

    init(code: CURLcode, text: String, origin: HTTPURL.Origin) {
      self.code = code
      self.text = Self.masked(text)
      self.origin = origin
    }

    private init(_ transfer: CurlTransfer, _ handle: CurlHandle, _ code: CURLcode) {
      self.init(code: code, text: handle.failureText, origin: transfer.exchange.request.url.origin)
      systemError = errand_easy_long(handle.easy, CURLINFO_OS_ERRNO)
      verifyResult = errand_easy_long(handle.easy, CURLINFO_SSL_VERIFYRESULT)
      lackedCertificate = errand_tls_lacked_certificate(handle.handshake)
      showedCertificate = handle.showsCertificate
      refusal = transfer.refusedAddress.map { transfer.loop.trust.refusal(of: $0, host: origin.host) }
      lacksRoom = transfer.lacksRoom
      hasProxy = transfer.loop.configuration.proxy != .none
      unixSocket = transfer.loop.configuration.unixSocket
      mayHaveBeenSent = transfer.mayHaveBeenSent
      hasBegun = transfer.parser.hasBegun
      isFinal = transfer.parser.isFinal
    }

    private static let unusableProxy = "Unsupported proxy"

    /// Masks an invalid proxy URL, which libcurl quotes with user and password.
    private static func masked(_ text: String) -> String {
      guard text.hasPrefix(unusableProxy) else { return text }
      return text.prefix { $0 != "'" } + "'…'"
    }

    /// The response of the transfer. Status 407 from the proxy is thrown as a failure, because it is not a response of
    /// the server.
    private static func answer(of transfer: CurlTransfer) throws -> HTTPResponse {
      let response = try transfer.finish()
      let url = transfer.exchange.request.url
      if response.head.status == 407, url.scheme == .http, transfer.loop.configuration.proxy != .none {
        let text = FailureText.sentence(for: .proxyCredentials, origin: url.origin)
        throw TransportFailure(.proxyCredentials, text, isCertainlyNotSent: true)
      }
      return response
    }

    private static func allStale(isCertainlyNotSent: Bool) -> TransportFailure {
      TransportFailure(
        .closedBeforeResponse, "Every kept connection had ended or contained bytes that no request asked for.",
        isCertainlyNotSent: isCertainlyNotSent)
    }

    private static func notTaken(_ transfer: CurlTransfer) -> TransportFailure {
      TransportFailure(
        .closedBeforeResponse,
        "\(transfer.exchange.request.url.origin) shut down the HTTP/2 connection before it processed the request.",
        isCertainlyNotSent: !transfer.mayHaveBeenSent)
    }

    /// The system's error numbers if there is no network.
    private static let offlineErrors = [Int(ENETDOWN), Int(ENETUNREACH)]

    var transportFailure: TransportFailure {
      let kind = kind
      if kind == .forbiddenAddress, let refusal {
        return TransportFailure(kind, refusal, isCertainlyNotSent: true)
      }
      return TransportFailure(kind, sentence(kind), isCertainlyNotSent: !mayHaveBeenSent)
    }

    var kind: TransportFailure.Kind {
      if let kind = clientCertificateKind { return kind }
      if brokeInHandshake { return .closedBeforeResponse }
      return switch code {
      case CURLE_URL_MALFORMAT: .unsupported
      case CURLE_UNSUPPORTED_PROTOCOL: mayHaveBeenSent ? .malformedResponse : .unsupported
      case CURLE_COULDNT_RESOLVE_PROXY: .proxy
      case CURLE_PROXY: text.contains("rejected by the SOCKS5 server") ? .proxyCredentials : .proxy
      case CURLE_COULDNT_RESOLVE_HOST: .nameLookup
      case CURLE_COULDNT_CONNECT: unconnected
      case CURLE_OPERATION_TIMEDOUT: mayHaveBeenSent && !isConnecting ? .idleTimeout : .connectTimeout
      case CURLE_PARTIAL_FILE: .truncated
      case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_FUNCTION_ARGUMENT: .malformedResponse
      case CURLE_OUT_OF_MEMORY: hasBegun || mayHaveBeenSent ? .tooLarge : .other
      case CURLE_BAD_CONTENT_ENCODING: .undecodableContent
      case CURLE_HTTP2, CURLE_HTTP2_STREAM: .http2
      case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND: broken
      default: Self.tlsCodes.contains(code.rawValue) ? tlsKind : .other
      }
    }

    /// Whether the time-out happened while libcurl was connecting. libcurl also connects again if a kept connection has
    /// closed.
    private var isConnecting: Bool {
      ["Connection time", "Failed to connect", "Resolving timed out"].contains { text.hasPrefix($0) }
    }

    private var unconnected: TransportFailure.Kind {
      if refusal != nil { return .forbiddenAddress }
      if lacksRoom { return .other }
      if Self.offlineErrors.contains(systemError) { return .offline }
      return unixSocket == nil && isElsewhere ? .proxy : .refused
    }

    /// Whether libcurl failed to connect to an address that is not the server's. That address is then the proxy's.
    private var isElsewhere: Bool {
      guard hasProxy else { return false }
      if text.hasPrefix(Self.unusableProxy) { return true }
      // Failed to connect to HOST port NUMBER after …
      let words = text.split(separator: " ", maxSplits: 7)
      guard text.hasPrefix("Failed to connect to "), words.count > 6 else { return false }
      let host = String(origin.host.drop { $0 == "[" }.prefix { $0 != "]" })
      return words[6] != "\(origin.port)" || !Self.areSame(host, String(words[4]))
    }

    /// Whether two hosts are the same. Addresses are compared by their bytes, because libcurl may write an address in
    /// another form.
    private static func areSame(_ one: String, _ other: String) -> Bool {
      if one == other { return true }
      guard let address = CurlAddress(anyForm: one) else { return false }
      return address.bytes == CurlAddress(anyForm: other)?.bytes
    }

    /// The kind of a failure while the request or the response was being transferred.
    private var broken: TransportFailure.Kind {
      let words = text.lowercased()
      if words.contains("connect tunnel failed, response 407") { return .proxyCredentials }
      if words.contains("connect tunnel failed") || words.contains("proxy connect") { return .proxy }
      if words.contains("alert") { return tlsKind }
      if words.contains("too large response headers") { return .tooLarge }
      if words.contains("chunk") || words.contains("header") && hasBegun { return .malformedResponse }
      return hasBegun ? .reset : .closedBeforeResponse
    }

    private func sentence(_ kind: TransportFailure.Kind) -> String {
      // libcurl reports response headers that are too large as "out of memory".
      if kind == .tooLarge { return "\(plainSentence(kind).dropLast()) (libcurl \(code.rawValue))." }
      let cause = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
      return "\(plainSentence(kind).dropLast()) (\(cause); libcurl \(code.rawValue))."
    }

    private func plainSentence(_ kind: TransportFailure.Kind) -> String {
      if kind == .other, lacksRoom { return FailureText.outOfRoom }
      if kind == .refused, let unixSocket { return FailureText.refused(socket: unixSocket) }
      if kind == .unsupported { return "The request cannot be sent by libcurl." }
      return FailureText.sentence(for: kind, origin: origin)
    }
  }
#endif
