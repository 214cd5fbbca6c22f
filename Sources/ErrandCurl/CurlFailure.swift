#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import Glibc

  /// Turns libcurl's codes into failures that a caller can act on.
  struct CurlFailure {
    /// libcurl's code.
    let code: CURLcode
    /// libcurl's words; never holds what a request carries, nor what the environment says of a proxy.
    let text: String
    /// The system's error number beside it, or 0.
    var systemError: Int = 0
    /// Why the certificate was refused, in OpenSSL's numbers, or 0.
    var verifyResult: Int = 0
    /// Whether the server asked for a client certificate and got none.
    var lackedCertificate = false
    /// Whether there was a client certificate to show.
    var showedCertificate = false
    /// Why the transport's policy kept it from connecting; nil where it did not.
    var refusal: String?
    /// Whether the system had no room for the socket.
    var lacksRoom = false
    /// Whether requests may go to a proxy.
    var hasProxy = false
    /// The Unix socket in the place of the host's port; nil without one.
    var unixSocket: String?
    /// Whether a connection stood and the request was begun.
    var mayHaveBeenSent = false
    /// Whether a line of an answer came.
    var hasBegun = false
    /// Whether the final head came whole.
    var isFinal = false
    /// Where the request went.
    var origin: HTTPURL.Origin

    /// The answer of a transfer that libcurl has done with, or its failure.
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

    /// libcurl quotes a proxy that it cannot use as a whole, with its user and its password.
    private static func masked(_ text: String) -> String {
      guard text.hasPrefix(unusableProxy) else { return text }
      return text.prefix { $0 != "'" } + "'…'"
    }

    /// What came; the proxy's word that it demands other credentials is no answer of the server.
    private static func answer(of transfer: CurlTransfer) throws -> HTTPResponse {
      let response = try transfer.finish()
      let url = transfer.exchange.request.url
      if response.head.status == 407, url.scheme == .http, transfer.loop.configuration.proxy != .none {
        let text = CurlFailureText.sentence(for: .proxyCredentials, origin: url.origin)
        throw TransportFailure(.proxyCredentials, text, isCertainlyNotSent: true)
      }
      return response
    }

    private static func allStale(isCertainlyNotSent: Bool) -> TransportFailure {
      TransportFailure(
        .closedBeforeResponse, "Every kept connection held bytes that nobody asked for, or had ended.",
        isCertainlyNotSent: isCertainlyNotSent)
    }

    private static func notTaken(_ transfer: CurlTransfer) -> TransportFailure {
      TransportFailure(
        .closedBeforeResponse,
        "\(transfer.exchange.request.url.origin) retired the connection before it took the request.",
        isCertainlyNotSent: !transfer.mayHaveBeenSent)
    }

    /// What the system says where there is no network at all.
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

    /// Whether libcurl was at a connection when the time was over; at a second one, where a kept one had died.
    private var isConnecting: Bool {
      ["Connection time", "Failed to connect", "Resolving timed out"].contains { text.hasPrefix($0) }
    }

    private var unconnected: TransportFailure.Kind {
      if refusal != nil { return .forbiddenAddress }
      if lacksRoom { return .other }
      if Self.offlineErrors.contains(systemError) { return .offline }
      return unixSocket == nil && isElsewhere ? .proxy : .refused
    }

    /// Whether libcurl names another place than the server's that it could not connect to: then it is the proxy.
    private var isElsewhere: Bool {
      guard hasProxy else { return false }
      if text.hasPrefix(Self.unusableProxy) { return true }
      // Failed to connect to HOST port NUMBER after …
      let words = text.split(separator: " ", maxSplits: 7)
      guard text.hasPrefix("Failed to connect to "), words.count > 6 else { return false }
      let host = String(origin.host.drop { $0 == "[" }.prefix { $0 != "]" })
      return words[6] != "\(origin.port)" || !Self.areSame(host, String(words[4]))
    }

    /// Whether two hosts are the same. libcurl has its own way to write addresses.
    private static func areSame(_ one: String, _ other: String) -> Bool {
      if one == other { return true }
      guard let address = CurlAddress(anyForm: one) else { return false }
      return address.bytes == CurlAddress(anyForm: other)?.bytes
    }

    /// The connection failed while request or answer were on their way.
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
      // libcurl's word for a head that is too large is "out of memory".
      if kind == .tooLarge { return "\(plainSentence(kind).dropLast()) (libcurl \(code.rawValue))." }
      let cause = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
      return "\(plainSentence(kind).dropLast()) (\(cause); libcurl \(code.rawValue))."
    }

    private func plainSentence(_ kind: TransportFailure.Kind) -> String {
      if kind == .other, lacksRoom { return CurlFailureText.outOfRoom }
      if kind == .refused, let unixSocket { return CurlFailureText.refused(socket: unixSocket) }
      return CurlFailureText.sentence(for: kind, origin: origin)
    }
  }
#endif
