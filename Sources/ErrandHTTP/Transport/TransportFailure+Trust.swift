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
