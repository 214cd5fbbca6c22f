#if os(Linux)
  import ErrandHTTP

  /// The failures whose causes TLS knows, and the parts of messages that several files need.
  enum EngineFailure {
    /// The failure of an exchange whose connection was lost, if TLS is the reason: the server rejected the client's
    /// certificate or sent another alert. Otherwise nil. `tls` is nil for a connection without TLS.
    static func lost(
      _ exchange: EngineExchange, _ ending: ConnectionMachine.Ending, isReset: Bool, hasResponded: Bool,
      _ tls: TLSFailure?
    ) -> TransportFailure? {
      guard var tls, ending != .idle, ending != .response else { return nil }
      // A request that was not sent on a kept connection moves to another one, whatever ended the connection.
      if ending == .unsent, exchange.isReused == true { return nil }
      // A server that has responded on this connection does not require a certificate.
      if hasResponded { tls.lacksCertificate = false }
      let isBeforeResponse = ending == .unsent || ending == .beforeResponse
      let kind = isBeforeResponse ? tls.kindBeforeResponse(isReset: isReset) : tls.alertKind
      return kind.map { Self.tls(exchange, $0, tls) }
    }

    /// A failure whose cause is known to TLS.
    static func tls(
      _ exchange: EngineExchange, _ kind: TransportFailure.Kind, _ failure: TLSFailure
    ) -> TransportFailure {
      let isPlain = kind == .tls && failure.isForeign
      return exchange.failure(kind, isPlain ? FailureText.notTLS(exchange.origin) : nil, cause: failure.cause)
    }

    /// The message for a request that the server has not processed and that cannot be sent again. `cause` is the
    /// server's reason, if it has named one.
    static func unprocessed(_ origin: HTTPURL.Origin, _ cause: String?) -> String {
      let sentence = "\(origin) has not processed the request over HTTP/2; send it in a new call later."
      return cause.map { with($0, sentence) } ?? sentence
    }

    /// The cause of the end of an HTTP/2 connection with too many frames; see ``HTTP2FrameBudget``.
    static let flood = "the server sends too many frames without content"

    static let inHead = "The connection closed within the response headers."

    static func with(_ cause: String, _ sentence: String) -> String { "\(sentence.dropLast()) (\(cause))." }
  }
#endif
