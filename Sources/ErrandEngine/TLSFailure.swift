#if os(Linux)
  import ErrandHTTP
  import ErrandTLS
  import Glibc

  /// What OpenSSL and the system report about a TLS connection that failed.
  struct TLSFailure: Equatable {
    /// OpenSSL's text. Nil if the connection was closed or reset and TLS itself did not fail.
    var reason: String?
    /// The system's error number (`errno`) of the socket. 0 if the system reported no error.
    var systemError: Int32 = 0
    /// Whether the first bytes of the server are not TLS.
    var isForeign = false
    /// OpenSSL's result of verifying the server's certificate. 0 means that no error was found.
    var verifyResult = 0
    /// OpenSSL's text for `verifyResult`.
    var verifyText = ""
    /// Whether the server asked for a client certificate and received none.
    var lacksCertificate = false
    /// Whether a client certificate is configured for the host.
    var hasCertificate = false

    /// The kind of a failure during the handshake.
    var handshakeKind: TransportFailure.Kind {
      if reason != nil, verifyResult != 0 { return TLSFailureRules.certificateKind(verifyResult: verifyResult) }
      if let kind = certificateKind(isBroken: false) { return kind }
      return reason.map(TLSFailureRules.handshakeKind) ?? .closedBeforeResponse
    }

    /// The kind of a failure after the handshake and before the response. Nil if TLS is not the reason, so that the
    /// connection was simply lost. `isReset` is true if the connection was reset.
    func kindBeforeResponse(isReset: Bool) -> TransportFailure.Kind? {
      certificateKind(isBroken: isReset) ?? alertKind
    }

    /// The kind of a failure after the handshake if the server has sent an alert. Otherwise nil.
    var alertKind: TransportFailure.Kind? {
      guard let reason, reason.contains("alert") else { return nil }
      return TLSFailureRules.handshakeKind(reason)
    }

    private func certificateKind(isBroken: Bool) -> TransportFailure.Kind? {
      TLSFailureRules.clientCertificateKind(
        reason ?? systemText ?? "", .init(isLacking: lacksCertificate, isConfigured: hasCertificate),
        isBroken: isBroken)
    }

    /// The technical cause for the end of a message. Nil if no cause is known.
    var cause: String? {
      if reason != nil, verifyResult != 0 { return verifyText }
      return reason ?? systemText
    }

    private var systemText: String? { systemError == 0 ? nil : String(cString: strerror(systemError)) }
  }
#endif
