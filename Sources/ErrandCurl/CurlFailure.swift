#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandHTTP
  import ErrandTLS
  import Glibc

  /// The failure of a transfer in libcurl. Maps libcurl's result codes to failures that a caller can handle.
  struct CurlFailure {
    let code: CURLcode
    /// The message of libcurl. It never contains parts of a request or the proxy settings of the environment.
    let text: String
    /// The system's error number (`errno`) of the failed connection attempt. 0 if libcurl has recorded no error number.
    var systemError: Int = 0
    /// OpenSSL's result of verifying the server's certificate. 0 means that no error was found.
    var verifyResult: Int = 0
    /// Whether the server asked for a client certificate and received none.
    var lackedCertificate = false
    /// Whether a client certificate was available for the host.
    var showedCertificate = false
    /// The message about the address to which the address policy prevented a connection. Nil if the policy did not
    /// cause the failure.
    var refusal: String?
    /// Whether the system had no memory or file descriptor for the socket.
    var lacksResources = false
    var hasProxy = false
    /// The path of the Unix socket that is used instead of the host and port. Nil if no Unix socket is configured.
    var unixSocket: String?
    /// Whether a connection was established and the request was started.
    var mayHaveBeenSent = false
    /// Whether a line of the response has arrived.
    var hasBegun = false
    /// Whether the final response headers are complete.
    var isFinal = false
    /// The version of libcurl that reported the code.
    var version = CurlVersion.running
    var origin: HTTPURL.Origin

    /// Returns the response of a transfer that libcurl has ended, or throws the failure of the transfer.
    static func outcome(of transfer: CurlTransfer, handle: CurlHandle, code: CURLcode) throws -> HTTPResponse {
      if let failure = transfer.failure { throw failure }
      if code == CURLE_OK || transfer.hasWholeResponse { return try response(of: transfer) }
      if transfer.isStale { throw allStale(isCertainlyNotSent: !transfer.mayHaveBeenSent) }
      if transfer.isUnprocessed, code != CURLE_OPERATION_TIMEDOUT { throw unprocessed(transfer) }
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
      refusal = transfer.refusedAddress.map { address in
        transfer.loop.trust.settings.refusal(of: address.text, address.kind, host: origin.host)
      }
      lacksResources = transfer.lacksResources
      hasProxy = transfer.proxy.setting != .none
      unixSocket = transfer.loop.configuration.unixSocket
      mayHaveBeenSent = transfer.mayHaveBeenSent
      hasBegun = transfer.parser.hasBegun
      isFinal = transfer.parser.isFinal
    }

    private static let unusableProxy = "Unsupported proxy"

    /// Masks the URL in libcurl's message about an unusable proxy, because libcurl quotes the URL with user and
    /// password.
    private static func masked(_ text: String) -> String {
      guard text.hasPrefix(unusableProxy) else { return text }
      return text.prefix { $0 != "'" } + "'…'"
    }

    /// Returns the response of the transfer. Status 407 from the proxy is thrown as a failure, because it is not a
    /// response of the server.
    private static func response(of transfer: CurlTransfer) throws -> HTTPResponse {
      let response = try transfer.finish()
      let url = transfer.exchange.request.url
      if response.head.status == 407, url.scheme == .http, transfer.proxy.setting != .none {
        let text = FailureText.proxyCredentials(response.head.fields, origin: url.origin)
        throw TransportFailure(.proxyCredentials, text, isCertainlyNotSent: !transfer.wasBegun)
      }
      return response
    }

    private static func allStale(isCertainlyNotSent: Bool) -> TransportFailure {
      TransportFailure(
        .closedBeforeResponse, "Every idle connection had ended or contained unexpected bytes.",
        isCertainlyNotSent: isCertainlyNotSent)
    }

    private static func unprocessed(_ transfer: CurlTransfer) -> TransportFailure {
      TransportFailure(
        .closedBeforeResponse,
        "\(transfer.exchange.request.url.origin) shut down the HTTP/2 connection before it processed the request.",
        isCertainlyNotSent: !transfer.mayHaveBeenSent)
    }

    /// The system's error numbers for a missing network.
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
      case CURLE_OUT_OF_MEMORY: mayExceedOwnLimits && !version.reportsOwnLimits ? .tooLarge : .other
      case Self.tooLarge: mayExceedOwnLimits ? .tooLarge : .other
      case CURLE_BAD_CONTENT_ENCODING: .undecodableContent
      case CURLE_HTTP2, CURLE_HTTP2_STREAM: .http2
      case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND: broken
      default: Self.tlsCodes.contains(code.rawValue) ? tlsKind : .other
      }
    }

    /// `CURLE_TOO_LARGE`, which the headers of older versions do not declare.
    private static let tooLarge = CURLcode(100)

    /// Whether response headers that exceed libcurl's own limits may be the cause: the response has begun or may begin,
    /// and its head is not complete.
    private var mayExceedOwnLimits: Bool { mayHaveBeenSent && !isFinal }

    /// Whether the time-out happened while libcurl was connecting. Only libcurl's message shows this, because libcurl
    /// may connect again during an exchange if a reused connection has closed.
    private var isConnecting: Bool {
      ["Connection time", "Failed to connect", "Resolving timed out"].contains { text.hasPrefix($0) }
    }

    private var unconnected: TransportFailure.Kind {
      if refusal != nil { return .forbiddenAddress }
      if lacksResources { return .other }
      if Self.offlineErrors.contains(systemError) { return .offline }
      return unixSocket == nil && isElsewhere ? .proxy : .refused
    }

    /// Whether libcurl failed to connect to the proxy: the address in the message is not the server's address.
    private var isElsewhere: Bool {
      guard hasProxy else { return false }
      if text.hasPrefix(Self.unusableProxy) { return true }
      // The message has the form: Failed to connect to HOST port NUMBER after …
      let words = text.split(separator: " ", maxSplits: 7)
      guard text.hasPrefix("Failed to connect to "), words.count > 6 else { return false }
      let host = String(origin.host.drop { $0 == "[" }.prefix { $0 != "]" })
      return words[6] != "\(origin.port)" || !Self.areSame(host, String(words[4]))
    }

    /// Whether two texts name one host. Addresses are compared by their bytes, because libcurl may write an address in
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
      let cause = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
      return "\(plainSentence(kind).dropLast()) (\(cause); libcurl \(code.rawValue))."
    }

    /// libcurl's limits on the headers of a response: 100 KiB for a line (`CURL_MAX_HTTP_HEADER`), and in newer
    /// versions 300 KiB for all lines.
    private static let ownLimits =
      "libcurl's own limits of 100 KiB for a line and 300 KiB for all lines, which `limits.headBytes` does not raise; "
      + "the default transport has no such limits"

    private func plainSentence(_ kind: TransportFailure.Kind) -> String {
      if kind == .tooLarge, code == CURLE_OUT_OF_MEMORY {
        return "libcurl has no memory, or the response headers of \(origin) exceed \(Self.ownLimits)."
      }
      if kind == .tooLarge { return "The response headers of \(origin) exceed \(Self.ownLimits)." }
      if code == CURLE_OUT_OF_MEMORY { return "libcurl has no memory for the exchange with \(origin)." }
      if code == Self.tooLarge {
        return "The exchange with \(origin) exceeds a limit of libcurl, such as 1 MiB for the head of the request;"
          + " make it shorter, or use the default transport."
      }
      if kind == .other, lacksResources { return FailureText.outOfResources }
      if kind == .refused, let unixSocket { return FailureText.refused(socket: unixSocket) }
      if kind == .tls, metPlainText { return FailureText.notTLS(origin) }
      if kind == .unsupported { return "The request cannot be sent by libcurl." }
      return FailureText.sentence(for: kind, origin: origin)
    }
  }

  extension CurlFailure {
    static let tlsCodes: Set<UInt32> = Set(
      [
        CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
      ].map(\.rawValue))

    /// The kind of a TLS failure. If the certificate was rejected, OpenSSL's verification result determines the kind.
    /// Otherwise libcurl's message determines the kind.
    var tlsKind: TransportFailure.Kind {
      if origin.scheme == .http { return .proxy }  // Without https, only the proxy uses TLS.
      if code == CURLE_SSL_PINNEDPUBKEYNOTMATCH { return .pinMismatch }
      if code == CURLE_PEER_FAILED_VERIFICATION { return certificateKind }
      return TLSFailureRules.handshakeKind(text)
    }

    /// Whether the server answered the TLS handshake with bytes that are not TLS. OpenSSL reads the text of a response
    /// as a record of an unknown TLS version.
    var metPlainText: Bool {
      code == CURLE_SSL_CONNECT_ERROR && origin.scheme == .https && !hasProxy
        && ["wrong version number", "http request"].contains(where: text.lowercased().contains)
    }

    /// Whether the connection was closed or reset during the TLS handshake, without an alert from either side. OpenSSL
    /// reports this as `SSL_ERROR_SYSCALL`, or as `unexpected eof`.
    var brokeInHandshake: Bool {
      guard code == CURLE_SSL_CONNECT_ERROR, !mayHaveBeenSent else { return false }
      let words = text.lowercased()
      if words.contains("ssl routines") { return words.contains("unexpected eof") }
      return [Int(ECONNRESET), Int(EPIPE)].contains(systemError) || words.contains("ssl_error_syscall")
    }

    /// The reason why the server's certificate was rejected. For a wrong host, libcurl 7.88 sets a meaningless
    /// verification result, so the message is checked first.
    private var certificateKind: TransportFailure.Kind {
      if text.contains("subject name") || text.contains("does not match") { return .wrongHost }
      return TLSFailureRules.certificateKind(verifyResult: verifyResult)
    }

    /// The kind of the failure if the server rejected the client certificate or required one. Otherwise nil.
    var clientCertificateKind: TransportFailure.Kind? {
      guard code != CURLE_OK, code != CURLE_PEER_FAILED_VERIFICATION, !hasBegun else { return nil }
      return TLSFailureRules.clientCertificateKind(
        text, .init(isLacking: lackedCertificate, isConfigured: showedCertificate),
        isBroken: code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR)
    }
  }
#endif
