#if os(Linux)
  import ErrandHTTP
  import Glibc

  /// The messages that contain more details than the general message for a kind of failure.
  enum EngineFailure {
    /// The message for a failed lookup of a host, which is the host of the origin or of the proxy.
    static func lookup(
      _ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin, _ failure: SocketAddress.LookupFailure
    ) -> String {
      with(failure.text, FailureText.sentence(for: kind, origin: origin))
    }

    /// The message for a failed connection attempt, with the description of the system's error number.
    static func connecting(
      _ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin, socket path: String?, error: Int32
    ) -> String {
      let sentence = path.map(FailureText.refused(socket:)) ?? FailureText.sentence(for: kind, origin: origin)
      return with(String(cString: strerror(error)), sentence)
    }

    /// The failure of a TLS handshake.
    static func handshake(_ exchange: EngineExchange, _ failure: TLSFailure) -> TransportFailure {
      tls(exchange, failure.handshakeKind, failure)
    }

    /// A failure whose cause is known to TLS.
    static func tls(
      _ exchange: EngineExchange, _ kind: TransportFailure.Kind, _ failure: TLSFailure
    ) -> TransportFailure {
      let sentence = FailureText.sentence(for: kind, origin: exchange.origin)
      return exchange.failure(kind, failure.cause.map { with($0, sentence) } ?? sentence)
    }

    static let inHead = "The connection closed within the response headers."

    static func with(_ cause: String, _ sentence: String) -> String { "\(sentence.dropLast()) (\(cause))." }
  }
#endif
