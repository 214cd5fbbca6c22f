import ErrandHTTP
import Foundation

/// What settings say of trust, their files read and their certificates checked; it answers URLSession's questions.
///
/// | asked | found | answer |
/// |---|---|---|
/// | the server's trust | refused by the platform | the failure says why |
/// | | trusted, but no key of the host's pins | the failure says so |
/// | | trusted by the system, and pinned or without pins | the platform goes on, with all its checks |
/// | | trusted by own authorities, and pinned or without pins | this trust |
/// | a client certificate | one is for the host | it is shown |
/// | | none is | the platform goes on |
/// | anything else | | the platform goes on |
struct SessionTrust: Sendable {
  /// What URLSession is answered.
  enum Answer: Sendable, Equatable {
    /// To do what it does where nobody is asked.
    case platform
    /// To trust the server as it was judged here.
    case trust
    /// To show this.
    case show(SessionIdentity)
    /// To give up.
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

  /// The system's trust.
  static let standard = SessionTrust()

  private init() {
    anchors = nil
    pins = []
    shown = []
  }

  /// Reads and checks what settings say. `canRead` tells whether the platform can make use of an identity.
  init(
    _ settings: URLSessionSettings, canRead: (SessionIdentity) -> Bool
  ) throws(URLSessionSettings.Invalid) {
    anchors = try Self.anchors(settings.certificateAuthority)
    if let fault = PublicKeyPins.fault(of: settings.pins) { throw Self.invalid(fault) }
    pins = settings.pins.map { pins in
      Pin(hosts: HostPattern(pins.host), keys: Set(pins.sha256.compactMap { Data(base64Encoded: $0) }))
    }
    .sorted { $0.hosts.closeness > $1.hosts.closeness }
    var shown: [Shown] = []
    for certificate in settings.clientCertificates { shown.append(try Self.shown(certificate, canRead)) }
    self.shown = shown
  }

  // MARK: - Answers

  /// The answer to a challenge on the way to an origin.
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

  /// As hosts stand in patterns: in lower case, an address of IPv6 in brackets, a name without a dot at its end.
  private static func name(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasSuffix(".") { host.removeLast() }
    return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
  }

  /// By the numbers of `SecBase.h`. Nobody's certificate may be one that vouches for itself.
  private static func kind(of code: Int, isSelfIssued: Bool) -> TransportFailure.Kind {
    switch code {
    case -67_818: .certificateExpired
    case -67_819: .certificateNotYetValid
    case -67_602: .wrongHost
    // Not trusted; no chain to anybody; a root that is not known or not valid.
    case -67_843, -25_318, -67_612, -67_826: isSelfIssued ? .certificateSelfSigned : .unknownAuthority
    default: .tls
    }
  }

  /// It is given while TLS is set up, before anything of the request is sent.
  private static func failure(
    _ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin, _ words: String?
  ) -> TransportFailure {
    let sentence = SessionFailureText.sentence(for: kind, code: 0, origin)
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
      throw invalid("The certificate authority's file cannot be read; give the path of a PEM file.")
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
    guard hosts.map({ !$0.isEmpty && $0.allSatisfy(\.isSound) }) ?? true else {
      throw invalid(
        "The hosts of a client certificate must be like api.example.com or .example.com; nil means every host.")
    }
    guard case .pkcs12(let source) = certificate.form, let passphrase = certificate.passphrase else {
      throw invalid(
        "Apple platforms take a client certificate (\(certificate)) as `.pkcs12` with a passphrase alone; make one with"
          + " `openssl pkcs12 -export`.")
    }
    guard let data = bytes(of: source) else {
      throw invalid("The client certificate's PKCS #12 file (\(source)) cannot be read; see path and permissions.")
    }
    let identity = SessionIdentity(pkcs12: data, passphrase: passphrase)
    guard canRead(identity) else {
      throw invalid(
        "The key of the client certificate (\(certificate)) cannot be read; see whether the passphrase is right.")
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

/// A certificate of this side with its key, in PKCS #12.
struct SessionIdentity: Sendable, Equatable {
  let pkcs12: Data
  let passphrase: String
}
