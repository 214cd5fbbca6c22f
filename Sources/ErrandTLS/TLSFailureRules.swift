#if os(Linux)
  package import ErrandHTTP

  /// Maps OpenSSL's results and messages to the kinds of failures that a caller can handle. Both transports of Linux
  /// use these rules, so that the same server causes the same failure.
  package enum TLSFailureRules {
    /// The kind of a failed handshake, by OpenSSL's message.
    package static func handshakeKind(_ message: String) -> TransportFailure.Kind {
      let words = message.lowercased()
      let versions = ["alert protocol version", "unsupported protocol", "wrong ssl version"]
      return versions.contains(where: words.contains) ? .tlsVersion : .tls
    }

    /// The reason why the server's certificate was rejected, by OpenSSL's result of its verification.
    package static func certificateKind(verifyResult: Int) -> TransportFailure.Kind {
      switch verifyResult {
      case 9: .certificateNotYetValid
      case 10: .certificateExpired
      case 18: .certificateSelfSigned
      case 2, 19, 20, 21, 27: .unknownAuthority
      case 62, 64: .wrongHost
      default: .tls
      }
    }

    /// How the client's certificate took part in the handshake.
    package struct OwnCertificate {
      /// Whether the server asked for a certificate and received none.
      package let isLacking: Bool
      /// Whether a certificate is configured for the host.
      package let isConfigured: Bool

      package init(isLacking: Bool, isConfigured: Bool) {
        self.isLacking = isLacking
        self.isConfigured = isConfigured
      }
    }

    /// The kind of a failure before the response if the server rejected the client certificate or required one.
    /// Otherwise nil. With TLS 1.3 the server's alert arrives after the handshake, while the request is being sent.
    ///
    /// `isBroken` tells whether the connection broke while the request or the response was transferred.
    package static func clientCertificateKind(
      _ message: String, _ certificate: OwnCertificate, isBroken: Bool
    ) -> TransportFailure.Kind? {
      let words = message.lowercased()
      if words.contains("alert certificate required") { return .clientCertificateRequired }
      let refusals = [
        "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
        "certificate unknown", "unknown ca", "access denied",
      ]
      let isRefused = refusals.contains { words.contains("alert \($0)") }
      if certificate.isConfigured { return isRefused ? .clientCertificateRefused : nil }
      guard certificate.isLacking else { return nil }
      // Some servers only report that the handshake failed. The alert of other servers is lost, because these servers
      // close the connection while the request is being sent.
      let isHandshake = words.contains("alert handshake failure") || words.contains("reset by peer")
      return isRefused || isBroken || isHandshake ? .clientCertificateRequired : nil
    }
  }
#endif
