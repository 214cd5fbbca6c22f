#if os(Linux)
  import CCurl
  import CErrandCurl
  import ErrandCore
  import Glibc

  /// Turns libcurl's codes into failures that a caller can act on.
  struct CurlFailure {
    /// libcurl's code.
    let code: CURLcode
    /// libcurl's words; never holds what a request carries.
    let text: String
    /// The system's error number beside it, or 0.
    var systemError: Int = 0
    /// Why the certificate was refused, in OpenSSL's numbers, or 0.
    var verifyResult: Int = 0
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
      if code == CURLE_OK || transfer.hasWholeAnswer { return try transfer.finish() }
      if transfer.isStale { throw allStale }
      if code == CURLE_OPERATION_TIMEDOUT, transfer.mayHaveBeenSent { transfer.exchange.call.stop(.expired) }
      var failure = CurlFailure(
        code: code, text: handle.failureText, origin: transfer.exchange.request.url.origin)
      failure.systemError = errand_easy_long(handle.easy, CURLINFO_OS_ERRNO)
      failure.verifyResult = errand_easy_long(handle.easy, CURLINFO_SSL_VERIFYRESULT)
      failure.mayHaveBeenSent = transfer.mayHaveBeenSent
      failure.hasBegun = transfer.parser.hasBegun
      failure.isFinal = transfer.parser.isFinal
      throw failure.transportFailure
    }

    private static let allStale = TransportFailure(
      .closedBeforeResponse, "Every kept connection held bytes that nobody asked for, or had ended.",
      isCertainlyNotSent: true)

    /// What the system says where there is no network at all.
    private static let offlineErrors = [Int(ENETDOWN), Int(ENETUNREACH)]

    var transportFailure: TransportFailure {
      let kind = kind
      return TransportFailure(kind, sentence(kind), isCertainlyNotSent: !mayHaveBeenSent)
    }

    var kind: TransportFailure.Kind {
      switch code {
      case CURLE_URL_MALFORMAT: .unsupported
      case CURLE_UNSUPPORTED_PROTOCOL: mayHaveBeenSent ? .malformedResponse : .unsupported
      case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxy
      case CURLE_COULDNT_RESOLVE_HOST: .nameLookup
      case CURLE_COULDNT_CONNECT: Self.offlineErrors.contains(systemError) ? .offline : isElsewhere ? .proxy : .refused
      case CURLE_OPERATION_TIMEDOUT: mayHaveBeenSent ? .idleTimeout : .connectTimeout
      case CURLE_PARTIAL_FILE: .truncated
      case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_FUNCTION_ARGUMENT: .malformedResponse
      case CURLE_OUT_OF_MEMORY: hasBegun || mayHaveBeenSent ? .tooLarge : .other
      case CURLE_BAD_CONTENT_ENCODING: .undecodableContent
      case CURLE_HTTP2, CURLE_HTTP2_STREAM: .http2
      case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND: broken
      default: Self.tlsCodes.contains(code.rawValue) ? .tls : .other
      }
    }

    /// Whether libcurl names another place than the server's that it could not connect to: then it is the proxy.
    private var isElsewhere: Bool {
      let host = origin.host.drop { $0 == "[" }.prefix { $0 != "]" }
      return text.hasPrefix("Failed to connect to ")
        && !text.hasPrefix("Failed to connect to \(host) port \(origin.port) ")
    }

    /// The connection failed while request or answer were on their way.
    private var broken: TransportFailure.Kind {
      let words = text.lowercased()
      if words.contains("connect tunnel failed") || words.contains("proxy connect") { return .proxy }
      if words.contains("certificate required") || words.contains("alert") { return .tls }
      if words.contains("too large response headers") { return .tooLarge }
      if words.contains("chunk") || words.contains("header") && hasBegun { return .malformedResponse }
      return hasBegun ? .reset : .closedBeforeResponse
    }

    private static let tlsCodes: Set<UInt32> = Set(
      [
        CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT,
      ].map(\.rawValue))

    private func sentence(_ kind: TransportFailure.Kind) -> String {
      let cause = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
      let isWrongHost = cause.contains("subject name") || cause.contains("does not match")
      let reason = isWrongHost ? CurlFailureText.wrongHost : verifyResult
      let sentence = CurlFailureText.sentence(for: kind, origin: origin, verifyResult: reason)
      return "\(sentence.dropLast()) (\(cause); libcurl \(code.rawValue))."
    }
  }

  /// The sentences of failures.
  enum CurlFailureText {
    /// OpenSSL's number for a certificate that is another host's.
    static let wrongHost = 62

    static func sentence(for kind: TransportFailure.Kind, origin: HTTPURL.Origin, verifyResult: Int) -> String {
      switch kind {
      case .unsupported: "The request cannot be sent by libcurl."
      case .offline: "There is no network on which \(origin) could be reached."
      case .nameLookup: "The name of \(origin.host) could not be resolved."
      case .refused: "Nobody listens at \(origin), or it cannot be reached."
      case .connectTimeout: connectTimeout(origin, after: nil)
      case .idleTimeout: idleTimeout(origin, after: nil)
      case .tls: tls(origin, verifyResult)
      case .proxy: "The proxy on the way to \(origin) refused or failed."
      case .closedBeforeResponse: "\(origin) closed the connection before a byte of its answer."
      case .reset: "The connection to \(origin) broke in the middle of the answer."
      case .truncated: "The body of the answer ended before its announced end."
      case .malformedResponse: "The answer of \(origin) breaks the rules of HTTP."
      case .tooLarge: "The head of the answer is larger than the limits allow."
      case .undecodableContent: "The body cannot be decoded."
      case .http2: "HTTP/2 failed between \(origin) and here."
      default: "The exchange with \(origin) failed."
      }
    }

    static func connectTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
      "No connection to \(origin) stood \(within(limit)); raise `timeouts.connect` to wait longer."
    }

    static func idleTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
      "Nothing moved between \(origin) and here \(within(limit)); raise `timeouts.idle` to wait longer."
    }

    private static func within(_ limit: Duration?) -> String { limit.map { "within \($0)" } ?? "in time" }

    private static func tls(_ origin: HTTPURL.Origin, _ verifyResult: Int) -> String {
      switch verifyResult {
      case 9: "The certificate of \(origin) is not valid yet."
      case 10: "The certificate of \(origin) has expired."
      case 18, 19: "The certificate of \(origin) is signed by itself; give its authority's file if it is to be trusted."
      case 20, 21: "The certificate of \(origin) comes from an authority that is not trusted."
      case wrongHost: "The certificate of \(origin) is for another host, or names this one in its common name alone."
      default: "TLS with \(origin) could not be set up."
      }
    }
  }
#endif
