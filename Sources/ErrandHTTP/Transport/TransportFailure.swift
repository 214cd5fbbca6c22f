/// Why a transport could not bring an answer, in terms a caller can act on.
public struct TransportFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What went wrong. Retrying is decided by it.
  public struct Kind: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The stable code.
    public let rawValue: String
    /// Makes a kind of a code of one's own.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The stable code.
    public var description: String { rawValue }

    /// There is no network at all.
    public static let offline = Kind(rawValue: "offline")
    /// The host's name could not be resolved.
    public static let nameLookup = Kind(rawValue: "nameLookup")
    /// Nobody listens at the host's port, or the host cannot be reached.
    public static let refused = Kind(rawValue: "refused")
    /// No connection stood within the connect time-out.
    public static let connectTimeout = Kind(rawValue: "connectTimeout")
    /// Nothing moved for the idle time-out.
    public static let idleTimeout = Kind(rawValue: "idleTimeout")
    /// TLS could not be set up, for a reason that has no kind of its own.
    public static let tls = Kind(rawValue: "tls")
    /// The proxy refused or failed.
    public static let proxy = Kind(rawValue: "proxy")
    /// The connection closed before a byte of the answer.
    public static let closedBeforeResponse = Kind(rawValue: "closedBeforeResponse")
    /// The connection broke in the middle of the answer.
    public static let reset = Kind(rawValue: "reset")
    /// The body ended before its announced end.
    public static let truncated = Kind(rawValue: "truncated")
    /// The answer breaks the rules of HTTP.
    public static let malformedResponse = Kind(rawValue: "malformedResponse")
    /// The answer is larger than the limits allow.
    public static let tooLarge = Kind(rawValue: "tooLarge")
    /// The content coding is unknown, or the coded body is damaged.
    public static let undecodableContent = Kind(rawValue: "undecodableContent")
    /// HTTP/2 failed on this stream or connection.
    public static let http2 = Kind(rawValue: "http2")
    /// The sink of the body refused it.
    public static let sink = Kind(rawValue: "sink")
    /// What the body of the request is read from failed.
    public static let bodySource = Kind(rawValue: "bodySource")
    /// The body of the request changed while it was sent, or is not as long as was announced.
    public static let bodyChanged = Kind(rawValue: "bodyChanged")
    /// The request cannot be sent by this transport.
    public static let unsupported = Kind(rawValue: "unsupported")
    /// Anything else; the text says what.
    public static let other = Kind(rawValue: "other")
  }

  /// What went wrong.
  public let kind: Kind
  /// An English sentence that names the culprit.
  public let description: String
  /// Whether it is certain that the server did not see the request.
  public let isCertainlyNotSent: Bool
  /// What was measured until then; nil where nothing was. Two failures are equal whatever was measured.
  public var metrics: ExchangeMetrics? {
    get { measured?.metrics }
    set { measured = newValue.map(Measured.init) }
  }

  private var measured: Measured?

  /// Apart, so that a failure is cheap to throw.
  private final class Measured: Sendable {
    let metrics: ExchangeMetrics

    init(_ metrics: ExchangeMetrics) { self.metrics = metrics }
  }

  /// Makes a failure.
  public init(_ kind: Kind, _ description: String, isCertainlyNotSent: Bool = false) {
    self.kind = kind
    self.description = description
    self.isCertainlyNotSent = isCertainlyNotSent
  }

  /// Whether the same went wrong.
  public static func == (a: TransportFailure, b: TransportFailure) -> Bool {
    a.kind == b.kind && a.description == b.description && a.isCertainlyNotSent == b.isCertainlyNotSent
  }

  /// Hashes what went wrong.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(description)
    hasher.combine(isCertainlyNotSent)
  }
}

extension TransportFailure {
  /// The failure of an answer whose body has more bytes than are kept in memory.
  package static func bodyTooLarge(_ limit: Int) -> TransportFailure {
    TransportFailure(.tooLarge, "The answer is larger than the limits allow: its body has more than \(limit) bytes.")
  }
}

extension TransportFailure.Kind {
  // MARK: The server's certificate

  /// The server's certificate has expired.
  public static let certificateExpired = Self(rawValue: "certificateExpired")
  /// The server's certificate is not valid yet; this machine's clock may be wrong.
  public static let certificateNotYetValid = Self(rawValue: "certificateNotYetValid")
  /// The server's certificate is signed by itself.
  public static let certificateSelfSigned = Self(rawValue: "certificateSelfSigned")
  /// Nobody who is trusted vouches for the server's certificate.
  public static let unknownAuthority = Self(rawValue: "unknownAuthority")
  /// The server's certificate is for another host.
  public static let wrongHost = Self(rawValue: "wrongHost")
  /// The server's certificate is valid, but its public key is not among the host's pins.
  public static let pinMismatch = Self(rawValue: "pinMismatch")
  /// The server speaks only versions of TLS that are older than the minimum.
  public static let tlsVersion = Self(rawValue: "tlsVersion")

  // MARK: This side's certificate

  /// The server demands a certificate of this side, and there is none for it.
  public static let clientCertificateRequired = Self(rawValue: "clientCertificateRequired")
  /// The server refused the certificate of this side.
  public static let clientCertificateRefused = Self(rawValue: "clientCertificateRefused")

  // MARK: The way

  /// The proxy demands other credentials.
  public static let proxyCredentials = Self(rawValue: "proxyCredentials")
  /// The host has only addresses that the transport's policy forbids.
  public static let forbiddenAddress = Self(rawValue: "forbiddenAddress")

  /// Whether TLS or a certificate was what failed: ``tls`` or a kind that says more of it.
  public var concernsTLS: Bool {
    switch self {
    case .tls, .certificateExpired, .certificateNotYetValid, .certificateSelfSigned, .unknownAuthority, .wrongHost,
      .pinMismatch, .tlsVersion, .clientCertificateRequired, .clientCertificateRefused:
      true
    default: false
    }
  }
}
