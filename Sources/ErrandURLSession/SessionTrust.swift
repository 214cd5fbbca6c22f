import ErrandHTTP
import Foundation

/// The trust settings, after their files were read and their certificates were checked. This type answers URLSession's
/// challenges:
///
/// | challenge | result | answer |
/// |---|---|---|
/// | trust of the server | rejected by the platform | a failure with the reason |
/// | | trusted, but its key is not among the host's pins | a failure for the pin |
/// | | trusted by the system, pin matches or no pins | the platform continues with all its checks |
/// | | trusted by the configured authorities, pin matches or no pins | URLSession trusts the server |
/// | client certificate | a certificate fits the host | the first certificate that fits |
/// | | no certificate fits | the platform continues |
/// | anything else | | the platform continues |
struct SessionTrust: Sendable {
  /// The answer to a challenge from URLSession.
  enum Answer: Sendable, Equatable {
    /// URLSession handles the challenge in its default way.
    case platform
    /// URLSession trusts the server, because the checks of this type were successful.
    case trust
    /// URLSession sends this client certificate to the server.
    case show(SessionIdentity)
    /// URLSession cancels the challenge, and the exchange ends with this failure.
    case refuse(TransportFailure)
  }

  private struct Pin: Sendable {
    let hosts: HostPattern
    let keys: Set<Data>
  }

  private struct Shown: Sendable {
    let identity: SessionIdentity
    let hosts: [HostPattern]?
  }

  private let anchors: [Data]?
  private let pins: [Pin]
  private let shown: [Shown]

  /// The default trust: the authorities of the system, no pins and no client certificates.
  static let standard = SessionTrust()

  private init() {
    anchors = nil
    pins = []
    shown = []
  }

  /// Reads the files of the settings and checks the settings. `canRead` returns whether the platform can use a client
  /// certificate.
  init(
    _ settings: URLSessionSettings, canRead: (SessionIdentity) -> Bool
  ) throws(URLSessionSettings.Invalid) {
    anchors = try Self.anchors(settings.certificateAuthority)
    if let fault = PublicKeyPins.fault(of: settings.pins) { throw Self.invalid(fault) }
    pins = settings.pins.map { pins in
      Pin(hosts: HostPattern(pins.host), keys: Set(pins.sha256.compactMap { Data(base64Encoded: $0) }))
    }
    .sorted { $0.hosts.specificity > $1.hosts.specificity }
    var shown: [Shown] = []
    for certificate in settings.clientCertificates { shown.append(try Self.shown(certificate, canRead)) }
    self.shown = shown
  }

  // MARK: - Answers

  /// Returns the answer to a challenge that arrived on a connection to `origin`.
  func answer(to challenge: some SessionChallenge, for origin: HTTPURL.Origin) -> Answer {
    let host = Self.name(challenge.host)
    switch challenge.kind {
    case .other: return .platform
    case .clientCertificate:
      let first = shown.first { $0.hosts?.contains { $0.covers(host) } ?? true }
      return first.map { .show($0.identity) } ?? .platform
    case .serverTrust:
      if case .refused(let code, let words) = challenge.judge(anchors: anchors) {
        let kind = Self.kind(of: code, isSelfIssued: Self.parts(of: challenge)?.isSelfIssued ?? false)
        return .refuse(Self.failure(kind, origin, "\(words.isEmpty ? "" : "\(words); ")OSStatus \(code)"))
      }
      if let pins = pins.first(where: { $0.hosts.covers(host) }), !Self.matches(pins.keys, challenge) {
        return .refuse(Self.failure(.pinMismatch, origin, nil))
      }
      return anchors == nil ? .platform : .trust
    }
  }

  private static func matches(_ keys: Set<Data>, _ challenge: some SessionChallenge) -> Bool {
    guard let parts = parts(of: challenge) else { return false }
    return keys.contains(challenge.sha256(of: parts.publicKey))
  }

  private static func parts(of challenge: some SessionChallenge) -> CertificateParts? {
    challenge.certificate.flatMap { CertificateParts(der: $0) }
  }

  /// The host in the form that host patterns use: lower case, IPv6 addresses in brackets, no dot at the end.
  private static func name(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasSuffix(".") { host.removeLast() }
    return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
  }

  /// Converts an error number of `SecBase.h`. If an untrusted certificate is self-issued, it is reported as
  /// self-signed.
  private static func kind(of code: Int, isSelfIssued: Bool) -> TransportFailure.Kind {
    switch code {
    case -67_818: .certificateExpired
    case -67_819: .certificateNotYetValid
    case -67_602: .wrongHost
    // These error numbers mean: not trusted, no chain to an anchor, or an unknown or invalid root certificate.
    case -67_843, -25_318, -67_612, -67_826: isSelfIssued ? .certificateSelfSigned : .unknownAuthority
    default: .tls
    }
  }

  /// Creates a failure of the TLS handshake. The request is certainly not sent, because the handshake precedes it.
  private static func failure(
    _ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin, _ words: String?
  ) -> TransportFailure {
    let sentence = SessionFailureText.sentence(for: kind, code: 0, origin, on: .current)
    return TransportFailure(
      kind, words.map { "\(sentence.dropLast()) (\($0))." } ?? sentence, isCertainlyNotSent: true)
  }

  // MARK: - Reading

  private static func anchors(
    _ authority: URLSessionSettings.CertificateAuthority
  ) throws(URLSessionSettings.Invalid) -> [Data]? {
    let source: CertificateSource
    switch authority {
    case .system: return nil
    case .file(let path): source = .file(path: path)
    case .certificates(let data): source = .data(data)
    }
    guard let data = bytes(of: source) else {
      throw invalid("The certificate authority (\(source)) cannot be read; give the path of a PEM file.")
    }
    guard let certificates = CertificateParts.certificates(inPEM: data), !certificates.isEmpty else {
      throw invalid("The certificate authority (\(source)) holds no certificate; give certificates in PEM.")
    }
    return certificates
  }

  private static func shown(
    _ certificate: ClientCertificate, _ canRead: (SessionIdentity) -> Bool
  ) throws(URLSessionSettings.Invalid) -> Shown {
    let hosts = certificate.hosts?.map(HostPattern.init)
    guard hosts.map({ !$0.isEmpty && $0.allSatisfy(\.isValid) }) ?? true else {
      throw invalid(
        "The hosts of a client certificate must be like api.example.com or .example.com; nil means every host.")
    }
    guard case .pkcs12(let source) = certificate.form, let passphrase = certificate.passphrase else {
      throw invalid(
        "Apple platforms accept a client certificate (\(certificate)) only as `.pkcs12` with a passphrase; make one"
          + " with `openssl pkcs12 -export`.")
    }
    guard let data = bytes(of: source) else {
      throw invalid("The client certificate's PKCS #12 file (\(source)) cannot be read; check path and permissions.")
    }
    let identity = SessionIdentity(pkcs12: data, passphrase: passphrase)
    guard canRead(identity) else {
      throw invalid(
        "The key of the client certificate (\(certificate)) cannot be read; check the passphrase.")
    }
    return Shown(identity: identity, hosts: hosts)
  }

  private static func bytes(of source: CertificateSource) -> Data? {
    switch source {
    case .data(let data): data
    case .file(let path): try? Data(contentsOf: URL(filePath: path))
    }
  }

  private static func invalid(_ text: String) -> URLSessionSettings.Invalid {
    URLSessionSettings.Invalid(description: text)
  }
}

/// A client certificate with its key, in PKCS #12.
struct SessionIdentity: Sendable, Equatable {
  let pkcs12: Data
  let passphrase: String
}

/// A challenge from URLSession while a connection is set up, such as the check of the server's certificate. The
/// challenge is a protocol, so that tests can use their own challenges on every platform.
protocol SessionChallenge {
  /// Says what the client must decide to answer the challenge.
  var kind: SessionChallengeKind { get }
  /// The name of the host that sends the challenge, as the platform writes it.
  var host: String { get }
  /// The server's own certificate in DER; nil if the challenge has no certificate.
  var certificate: Data? { get }
  /// Computes the SHA-256 digest of the given bytes.
  func sha256(of data: Data) -> Data
  /// Lets the platform check the certificate's authority, dates and host. If `anchors` is not nil, only these
  /// certificates, in DER, are trusted as authorities.
  func judge(anchors: [Data]?) -> SessionVerdict
}

/// The result of the platform's check of a server's certificate.
enum SessionVerdict: Sendable, Equatable {
  case trusted
  /// The platform does not trust the certificate. Contains the error number of the Security framework (OSStatus) and
  /// its description.
  case refused(code: Int, words: String)
}

enum SessionChallengeKind: Sendable {
  /// The client must decide whether it trusts the server.
  case serverTrust
  /// The client must choose a certificate to send.
  case clientCertificate
  /// Any other challenge, such as a request for a password.
  case other
}
