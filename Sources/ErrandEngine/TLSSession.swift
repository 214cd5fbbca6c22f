#if os(Linux)
  import CErrandTLS
  import ErrandHTTP
  import ErrandTLS
  import Glibc

  /// The client's side of a TLS connection over a socket. Only the loop's thread uses this object. The object must be
  /// closed before its socket.
  final class TLSSession {
    /// The result of a step of the handshake.
    enum Handshake: Equatable {
      case done
      /// The poller reports when the handshake can continue.
      case later
      case failed
    }

    private let context: TLSContext
    private let origin: HTTPURL.Origin
    private let begun: MonotonicInstant
    /// The session that was offered to the server. The server may have rejected it.
    private let offered: OfferedSession?
    /// OpenSSL's connection. Nil after the session was closed.
    private var session: OpaquePointer?
    /// True if later connections must not resume this session.
    private var isRejected = false

    /// Begins a session over a connected socket. Returns nil if no memory is available.
    /// - Parameters:
    ///   - origin: The server, whose certificate must be for the host. Its last session is resumed if possible.
    ///   - protocols: The names of the protocols that are offered to the server (ALPN, RFC 7301).
    ///   - now: The current time, which decides whether the last session may be resumed.
    init?(
      _ context: TLSContext, descriptor: Int32, origin: HTTPURL.Origin, protocols: [String], at now: MonotonicInstant
    ) {
      let names = protocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
      guard
        let session = errand_tls_make(context.context, descriptor, origin.certificateName, names, names.count)
      else { return nil }
      self.context = context
      self.origin = origin
      begun = now
      offered = context.takeSession(of: origin, at: now)
      self.session = session
      if let offered { errand_tls_resume(session, offered.pointer) }
    }

    deinit { errand_tls_free(session, false) }

    /// Ends the session. Announces the end to the server if this is possible without waiting.
    func close() {
      keepOffer()
      errand_tls_free(session, true)
      session = nil
    }

    /// Prevents that a later connection resumes a session with this server, whose key was rejected. The certificate of
    /// the session would be checked again, also after the server has replaced it.
    func reject() {
      isRejected = true
      context.removeSession(of: origin)
    }

    func handshake() -> Handshake {
      guard let session else { return .failed }
      return switch errand_tls_handshake(session) {
      case errand_tls_done: .done
      case errand_tls_later: .later
      default: .failed
      }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> EngineSocket.Transferred {
      guard let session else { return .end }
      var count = 0
      return transferred(errand_tls_write(session, bytes.baseAddress, bytes.count, &count), count)
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> EngineSocket.Transferred {
      guard let session else { return .end }
      var count = 0
      let result = errand_tls_read(session, buffer.baseAddress, buffer.count, &count)
      keepOffer()
      return transferred(result, count)
    }

    /// Keeps the session that the server may have offered with the last bytes. If this connection has resumed a
    /// session, the certificate was checked with that session.
    private func keepOffer() {
      guard !isRejected, let session, let new = errand_tls_take_session(session) else { return }
      let checked = errand_tls_is_resumed(session) ? offered?.checked : nil
      context.keep(OfferedSession(new, checked: checked ?? begun), of: origin)
    }

    private func transferred(_ result: errand_tls_result, _ count: Int) -> EngineSocket.Transferred {
      switch result {
      case errand_tls_done: .bytes(count)
      case errand_tls_later: .later
      case errand_tls_closed, errand_tls_cut: .end
      default: .failed(failure.systemError == 0 ? EPROTO : failure.systemError)
      }
    }

    /// True if unread content, an incomplete record, the end of the stream or an error is available. Complete session
    /// tickets and other messages of TLS do not count.
    var hasUnread: Bool { session.map { errand_tls_has_unread($0) } ?? true }

    /// True if ``receive(into:)`` may have a result although the socket has no more bytes.
    var hasBuffered: Bool { session.map { errand_tls_has_buffered($0) } ?? false }

    /// True if the socket has not accepted all bytes. Sending or receiving sends them.
    var hasUnsent: Bool { session.map { errand_tls_has_unsent($0) } ?? false }

    /// True if the stream ended without the server's announcement of the end (`close_notify`).
    var isCutOff: Bool { session.map { errand_tls_is_cut($0) } ?? false }

    /// The reason why the session failed.
    var failure: TLSFailure {
      guard let session else { return TLSFailure() }
      let verified = errand_tls_verify_result(session)
      return TLSFailure(
        reason: errand_tls_reason(session).map { String(cString: $0) }, systemError: errand_tls_system_error(session),
        isForeign: errand_tls_is_foreign(session), verifyResult: verified,
        verifyText: String(cString: errand_tls_verify_text(verified)),
        lacksCertificate: errand_tls_lacked_own_certificate(session), hasCertificate: context.hasCertificate)
    }

    /// The name of the protocol that the server chose, such as `h2` (RFC 7301). Nil if the server chose none.
    var negotiatedProtocol: String? {
      guard let session else { return nil }
      var count: UInt32 = 0
      let name = errand_tls_protocol(session, &count)
      return name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }

    /// The SHA-256 of the public key of the server's certificate. Nil if the server sent no certificate, or if no
    /// memory is available.
    var publicKeyDigest: [UInt8]? {
      guard let session else { return nil }
      var digest = [UInt8](repeating: 0, count: 32)
      return errand_tls_public_key_digest(session, &digest) ? digest : nil
    }
  }

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
