#if os(Linux)
  import CErrandTLS
  import ErrandHTTP
  import ErrandTLS
  import Foundation
  import Glibc

  /// OpenSSL's settings for the connections of one loop that present the same client certificate, or none.
  final class TLSContext {
    let context: OpaquePointer
    /// True if the connections present a client certificate to servers that ask for one.
    let hasCertificate: Bool
    /// The sessions that later connections to a server can resume.
    private var sessions: [HTTPURL.Origin: OfferedSession] = [:]
    private static let mostSessions = 256

    /// The files in which Linux distributions keep the authorities that the system trusts.
    static let systemFiles = [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
      "/etc/ssl/cert.pem",
    ]

    /// Makes a context. Returns nil if no memory is available, or no file descriptor for the file of authorities. A
    /// system without authorities trusts no server.
    /// - Parameters:
    ///   - other: A context with the same authorities, which are then not read again.
    ///   - files: The files in which the system may keep its authorities.
    ///   - lacksDescriptors: Returns whether no file descriptor is left.
    init?(
      _ trust: TrustSettings, certificate: LoadedCertificate?, minimum: TLSVersion,
      sharingTrustOf other: TLSContext? = nil, files: [String] = TLSContext.systemFiles,
      lacksDescriptors: () -> Bool = { EngineSocket.lacksDescriptors }
    ) {
      guard let context = errand_tls_context_make(minimum == .tls1_3) else { return nil }
      self.context = context
      hasCertificate = certificate != nil
      if let other {
        errand_tls_context_trust_same(context, other.context)
      } else if !trusts(trust.authority, files, lacksDescriptors) {
        return nil
      }
      guard certificate?.use(in: context) != false else { return nil }
    }

    deinit { errand_tls_context_free(context) }

    /// Keeps a session that a server has offered.
    func keep(_ session: OfferedSession, of origin: HTTPURL.Origin) {
      if sessions.count >= Self.mostSessions, sessions[origin] == nil { removeSessions() }
      sessions[origin] = session
    }

    func removeSessions() { sessions.removeAll() }

    func removeSession(of origin: HTTPURL.Origin) { sessions[origin] = nil }

    /// Returns the session for the next connection to a server, unless the certificate must be checked again. A session
    /// that may be used only once is no longer kept.
    func takeSession(of origin: HTTPURL.Origin, at now: MonotonicInstant) -> OfferedSession? {
      guard let session = sessions[origin] else { return nil }
      let isFresh = now < session.checked.advanced(by: OfferedSession.longestUse)
      if !isFresh || !errand_tls_session_is_reusable(session.pointer) { sessions[origin] = nil }
      return isFresh ? session : nil
    }

    private func trusts(
      _ authority: TrustSettings.Authority, _ files: [String], _ lacksDescriptors: () -> Bool
    ) -> Bool {
      switch authority {
      case .certificates(let data, _):
        return data.withUnsafeBytes { errand_tls_context_trust_pem(context, $0.baseAddress, $0.count) }
      case .system:
        if let file = files.first(where: { access($0, R_OK) == 0 }) {
          if errand_tls_context_trust_file(context, file) { return true }
          // The directory of many systems contains only the file. A context that is kept would then trust no server.
          if lacksDescriptors() { return false }
        }
        return errand_tls_context_trust_directory(context)
      }
    }
  }

  /// What a server offers so that a later connection to it needs no new key exchange and no check of its certificate.
  final class OfferedSession {
    /// How long a check of the certificate is sufficient for later connections.
    static let longestUse = Duration.seconds(600)

    let pointer: OpaquePointer
    /// The time of the handshake in which the server's certificate was checked.
    let checked: MonotonicInstant

    init(_ pointer: OpaquePointer, checked: MonotonicInstant) {
      self.pointer = pointer
      self.checked = checked
    }

    deinit { errand_tls_session_free(pointer) }
  }

  /// The TLS contexts of one loop. Each is made when the first connection needs it, because reading the system's
  /// authorities takes tens of milliseconds.
  struct TLSContexts {
    private let trust: TrustSettings
    private let minimum: TLSVersion
    /// The contexts by the index of their client certificate.
    private var contexts: [Int?: TLSContext] = [:]

    init(_ trust: TrustSettings, minimum: TLSVersion) {
      self.trust = trust
      self.minimum = minimum
    }

    /// Begins a TLS session with an origin over a connected socket. Returns nil if no memory is available.
    mutating func session(
      with origin: HTTPURL.Origin, over socket: EngineSocket, protocols: [String], at now: MonotonicInstant
    ) -> TLSSession? {
      let place = trust.certificate(for: origin.hostWithoutDot)
      guard let context = context(place) else { return nil }
      return TLSSession(context, descriptor: socket.descriptor, origin: origin, protocols: protocols, at: now)
    }

    private mutating func context(_ place: Int?) -> TLSContext? {
      if let context = contexts[place] { return context }
      let certificate = place.map { trust.clientCertificates[$0] }
      contexts[place] = TLSContext(
        trust, certificate: certificate, minimum: minimum, sharingTrustOf: contexts.values.first)
      return contexts[place]
    }

    /// True if the origin may have the public key of the session's server.
    func allowsKey(of session: TLSSession, _ origin: HTTPURL.Origin) -> Bool {
      guard let pins = trust.pins(of: origin.hostWithoutDot) else { return true }
      guard let digest = session.publicKeyDigest else { return false }
      return pins.contains { Data(base64Encoded: $0).map(Array.init) == digest }
    }
  }
#endif
