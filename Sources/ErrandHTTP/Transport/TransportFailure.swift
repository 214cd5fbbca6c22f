import ErrandSupport

/// The reason why a transport did not deliver a response. A caller can react to its ``kind``.
public struct TransportFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of a failure. The retry policy depends on the kind.
  public struct Kind: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The stable code of the kind, such as `offline`.
    public let rawValue: String
    /// Makes a kind with a custom code, for transports that an app implements.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The stable code of the kind, such as `offline`.
    public var description: String { rawValue }

    /// No network is available.
    public static let offline = Kind(rawValue: "offline")
    /// The host's name could not be resolved.
    public static let nameLookup = Kind(rawValue: "nameLookup")
    /// No program listens on the host's port, or the host cannot be reached.
    public static let refused = Kind(rawValue: "refused")
    /// The connection was not established within the connect timeout.
    public static let connectTimeout = Kind(rawValue: "connectTimeout")
    /// No bytes were transferred for the length of the idle timeout.
    public static let idleTimeout = Kind(rawValue: "idleTimeout")
    /// TLS could not be established, and no more specific kind applies.
    public static let tls = Kind(rawValue: "tls")
    /// The proxy rejected the request or failed.
    public static let proxy = Kind(rawValue: "proxy")
    /// The connection closed before the first byte of the response.
    public static let closedBeforeResponse = Kind(rawValue: "closedBeforeResponse")
    /// The connection broke in the middle of the response.
    public static let reset = Kind(rawValue: "reset")
    /// The body ended before its announced length.
    public static let truncated = Kind(rawValue: "truncated")
    /// The response violates the rules of HTTP.
    public static let malformedResponse = Kind(rawValue: "malformedResponse")
    /// The response is larger than the limits allow.
    public static let tooLarge = Kind(rawValue: "tooLarge")
    /// The content coding is unknown, or the encoded body is damaged.
    public static let undecodableContent = Kind(rawValue: "undecodableContent")
    /// The HTTP/2 stream of the exchange failed, or its HTTP/2 connection.
    public static let http2 = Kind(rawValue: "http2")
    /// The sink that receives the response body threw an error.
    public static let sink = Kind(rawValue: "sink")
    /// The source of the request body failed.
    public static let bodySource = Kind(rawValue: "bodySource")
    /// The request body changed while it was sent, or its length differs from the announced length.
    public static let bodyChanged = Kind(rawValue: "bodyChanged")
    /// The transport does not support the request.
    public static let unsupported = Kind(rawValue: "unsupported")
    /// Any other failure; the description explains it.
    public static let other = Kind(rawValue: "other")
  }

  /// The kind of the failure.
  public let kind: Kind
  /// An English sentence that describes the failure. It names the host, the value or the setting that caused the
  /// failure.
  public let description: String
  /// True if the server has certainly not received the request.
  public let isCertainlyNotSent: Bool
  /// The measurements up to the failure; nil if there are none. A comparison of two failures ignores the measurements.
  public var metrics: ExchangeMetrics? {
    get { measured?.value }
    set { measured = newValue.map { Boxed($0) } }
  }

  /// Measurements are stored in a separate object, so that a failure is cheap to throw.
  private var measured: Boxed<ExchangeMetrics>?

  /// Makes a failure without measurements.
  public init(_ kind: Kind, _ description: String, isCertainlyNotSent: Bool = false) {
    self.kind = kind
    self.description = description
    self.isCertainlyNotSent = isCertainlyNotSent
  }

  /// Whether kind, description and ``isCertainlyNotSent`` of two failures are equal.
  public static func == (a: TransportFailure, b: TransportFailure) -> Bool {
    a.kind == b.kind && a.description == b.description && a.isCertainlyNotSent == b.isCertainlyNotSent
  }

  /// Hashes kind, description and ``isCertainlyNotSent``.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(description)
    hasher.combine(isCertainlyNotSent)
  }
}

extension TransportFailure.Kind: CaseIterable {
  /// The kinds that the library's own transports report. An app may define further kinds.
  public static let allCases: [TransportFailure.Kind] = [
    .offline, .nameLookup, .refused, .connectTimeout, .idleTimeout, .tls, .proxy, .closedBeforeResponse, .reset,
    .truncated, .malformedResponse, .tooLarge, .undecodableContent, .http2, .sink, .bodySource, .bodyChanged,
    .unsupported, .other, .certificateExpired, .certificateNotYetValid, .certificateSelfSigned, .unknownAuthority,
    .wrongHost, .pinMismatch, .tlsVersion, .clientCertificateRequired, .clientCertificateRefused, .proxyCredentials,
    .forbiddenAddress,
  ]
}

extension TransportFailure {
  /// The failure of a response whose body has more bytes than the limit for bodies in memory.
  package static func bodyTooLarge(_ limit: Int) -> TransportFailure {
    tooLarge(
      "its body has more than \(limit) bytes; raise `limits.bodyBytes` of the client or `validation.bodyLimit` of the "
        + "request, or use a body sink")
  }
}

extension TransportFailure.Kind {
  // MARK: The server's certificate

  /// The server's certificate has expired.
  public static let certificateExpired = Self(rawValue: "certificateExpired")
  /// The server's certificate is not valid yet; this machine's clock may be wrong.
  public static let certificateNotYetValid = Self(rawValue: "certificateNotYetValid")
  /// The server's certificate is self-signed.
  public static let certificateSelfSigned = Self(rawValue: "certificateSelfSigned")
  /// The server's certificate is not signed by a trusted authority.
  public static let unknownAuthority = Self(rawValue: "unknownAuthority")
  /// The server's certificate is for another host.
  public static let wrongHost = Self(rawValue: "wrongHost")
  /// The server's certificate is valid, but its public key is not one of the pinned keys of the host.
  public static let pinMismatch = Self(rawValue: "pinMismatch")
  /// The server supports only TLS versions below the required minimum.
  public static let tlsVersion = Self(rawValue: "tlsVersion")

  // MARK: The client's certificate

  /// The server requires a client certificate, and none is configured for this server.
  public static let clientCertificateRequired = Self(rawValue: "clientCertificateRequired")
  /// The server rejected the client certificate.
  public static let clientCertificateRefused = Self(rawValue: "clientCertificateRefused")

  // MARK: The network path

  /// The proxy requires a user name and a password, or rejects the given ones.
  public static let proxyCredentials = Self(rawValue: "proxyCredentials")
  /// All addresses of the host are forbidden by the transport's address policy.
  public static let forbiddenAddress = Self(rawValue: "forbiddenAddress")

  /// Whether TLS or a certificate failed: ``tls`` or a more specific kind.
  public var concernsTLS: Bool {
    switch self {
    case .tls, .certificateExpired, .certificateNotYetValid, .certificateSelfSigned, .unknownAuthority, .wrongHost,
      .pinMismatch, .tlsVersion, .clientCertificateRequired, .clientCertificateRefused:
      true
    default: false
    }
  }
}

/// The English messages of ``TransportFailure``.
package enum FailureText {
  package static let outOfResources = "No memory or file descriptor is available for another request."

  package static let missingCloseNotification =
    "The TLS connection ended without a close notification during the body."

  package static func sentence(for kind: TransportFailure.Kind, origin: HTTPURL.Origin) -> String {
    switch kind {
    case .unsupported: "The request cannot be sent by this transport."
    case .offline: "No network is available to reach \(origin)."
    case .nameLookup: "The name of \(origin.host) could not be resolved."
    case .refused: "Nothing listens at \(origin), or the host cannot be reached."
    case .connectTimeout: connectTimeout(origin, after: nil)
    case .idleTimeout: idleTimeout(origin, after: nil)
    case .proxy: "The proxy for \(origin) refused the request or failed."
    case .proxyCredentials:
      "The proxy for \(origin) requires other credentials; set `user` and `password` of `proxy`."
    case .closedBeforeResponse: "\(origin) closed the connection before the first byte of its response."
    case .reset: "The connection to \(origin) broke during the response."
    case .truncated: "The response of \(origin) ended before its announced end."
    case .malformedResponse: "The response of \(origin) violates the rules of HTTP."
    case .tooLarge:
      "The response headers are larger than the library below the transport allows; `limits.headBytes` does not raise "
        + "this limit."
    case .undecodableContent: "The content coding of the response body cannot be decoded."
    case .http2: "HTTP/2 with \(origin) failed."
    default: kind.concernsTLS ? tls(kind, origin) : "The exchange with \(origin) failed."
    }
  }

  package static func connectTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
    "No connection to \(origin) was established \(within(limit)); raise `timeouts.connect` to wait longer."
  }

  package static func idleTimeout(_ origin: HTTPURL.Origin, after limit: Duration?) -> String {
    "No data was transferred to or from \(origin) \(within(limit)); raise `timeouts.idle` to wait longer."
  }

  /// The sentence for a response with status 407. Names the schemes that the proxy offers if none of them is supported.
  package static func proxyCredentials(_ fields: HTTPFields, origin: HTTPURL.Origin) -> String {
    let offered = AuthenticationChallenge.all(in: fields.values(of: "Proxy-Authenticate")).map(\.scheme)
    guard !offered.isEmpty, !offered.contains(where: { $0 == "digest" || $0 == "basic" }) else {
      return sentence(for: .proxyCredentials, origin: origin)
    }
    return "The proxy for \(origin) offers only the authentication \(offered.joined(separator: ", ")); "
      + "let it offer Digest or Basic, and set `user` and `password` of `proxy`."
  }

  package static func refused(socket path: String) -> String {
    "Nothing listens at the Unix socket \(path), or the socket cannot be reached; check `unixSocket`."
  }

  /// The sentence for a server that answered the TLS handshake with something else, such as a response of HTTP/1.1.
  package static func notTLS(_ origin: HTTPURL.Origin) -> String {
    "\(origin) does not speak TLS on this port, but probably plain HTTP; use http in the URL, or the port for https."
  }

  private static func within(_ limit: Duration?) -> String { limit.map { "within \($0)" } ?? "in time" }

  private static func tls(_ kind: TransportFailure.Kind, _ origin: HTTPURL.Origin) -> String {
    switch kind {
    case .certificateExpired: "The certificate of \(origin) has expired; the owner of the server must renew it."
    case .certificateNotYetValid:
      "The certificate of \(origin) is not valid yet; check the clock of this machine."
    case .certificateSelfSigned:
      "The certificate of \(origin) is self-signed; "
        + "to trust this certificate, set `certificateAuthority` to the certificate."
    case .unknownAuthority:
      "The certificate of \(origin) comes from an authority that is not trusted; "
        + "to trust this authority, set `certificateAuthority`."
    case .wrongHost:
      "The certificate of \(origin) is for another host, or names the host only in its common name."
    case .pinMismatch:
      "The public key of \(origin) is not among its pins; "
        + "add the pin of the new key if the server's owner confirms the new key."
    case .tlsVersion: "\(origin) supports only versions of TLS that are older than `minimumTLSVersion`."
    case .clientCertificateRequired:
      "\(origin) requires a client certificate, but none was sent; add one to `clientCertificates`."
    case .clientCertificateRefused:
      "\(origin) refused the client certificate; check its dates and whether the server trusts its authority."
    default: "TLS with \(origin) could not be set up."
    }
  }
}
