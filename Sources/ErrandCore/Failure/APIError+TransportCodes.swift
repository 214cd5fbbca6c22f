/// The codes of failures in the stage ``APIError/Stage/transport``. Each has the name of its ``TransportFailure/Kind``;
/// the code ``unsupported`` is shared with other stages.
extension APIError.Code {
  /// The code for a kind of transport failure.
  init(_ kind: TransportFailure.Kind) { self.init(rawValue: kind.rawValue) }

  // MARK: The connection
  /// No network is available.
  public static let offline = Self(.offline)
  /// The host's name could not be resolved.
  public static let nameLookup = Self(.nameLookup)
  /// No program listens on the host's port, or the host cannot be reached.
  public static let refused = Self(.refused)
  /// The connection was not established within the connect time-out.
  public static let connectTimeout = Self(.connectTimeout)
  /// No bytes were transferred for the length of the idle time-out.
  public static let idleTimeout = Self(.idleTimeout)
  /// The proxy rejected the request or failed.
  public static let proxy = Self(.proxy)
  /// The proxy requires a user name and a password, or rejects the given ones.
  public static let proxyCredentials = Self(.proxyCredentials)
  /// All addresses of the host are forbidden by the transport's address policy.
  public static let forbiddenAddress = Self(.forbiddenAddress)

  // MARK: TLS
  /// TLS could not be established, and no more specific code applies.
  public static let tls = Self(.tls)
  /// The server's certificate has expired.
  public static let certificateExpired = Self(.certificateExpired)
  /// The server's certificate is not valid yet; this machine's clock may be wrong.
  public static let certificateNotYetValid = Self(.certificateNotYetValid)
  /// The server's certificate is self-signed.
  public static let certificateSelfSigned = Self(.certificateSelfSigned)
  /// The server's certificate is not signed by a trusted authority.
  public static let unknownAuthority = Self(.unknownAuthority)
  /// The server's certificate is for another host.
  public static let wrongHost = Self(.wrongHost)
  /// The server's certificate is valid, but its public key is not one of the pinned keys of the host.
  public static let pinMismatch = Self(.pinMismatch)
  /// The server supports only TLS versions below the required minimum.
  public static let tlsVersion = Self(.tlsVersion)
  /// The server requires a client certificate, and none is configured for this server.
  public static let clientCertificateRequired = Self(.clientCertificateRequired)
  /// The server rejected the client certificate.
  public static let clientCertificateRefused = Self(.clientCertificateRefused)

  // MARK: The exchange
  /// The connection closed before the first byte of the response.
  public static let closedBeforeResponse = Self(.closedBeforeResponse)
  /// The connection broke in the middle of the response.
  public static let reset = Self(.reset)
  /// The body ended before its announced length.
  public static let truncated = Self(.truncated)
  /// The response violates the rules of HTTP.
  public static let malformedResponse = Self(.malformedResponse)
  /// The response is larger than a limit allows. The code also occurs in the stages ``APIError/Stage/decode``, for a
  /// line of a stream, and ``APIError/Stage/transfer``, for a download.
  public static let tooLarge = Self(.tooLarge)
  /// The content coding is unknown, or the encoded body is damaged.
  public static let undecodableContent = Self(.undecodableContent)
  /// The HTTP/2 stream of the exchange failed, or its HTTP/2 connection.
  public static let http2 = Self(.http2)
  /// The sink that receives the response body threw an error.
  public static let sink = Self(.sink)
  /// The source of the request body failed.
  public static let bodySource = Self(.bodySource)
  /// The request body changed while it was sent, or its length differs from the announced length.
  public static let bodyChanged = Self(.bodyChanged)
  /// Any other failure; the message explains it.
  public static let other = Self(.other)
}
