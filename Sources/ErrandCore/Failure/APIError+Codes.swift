extension APIError.Code {
  // MARK: build
  /// The URL of the request cannot be used, for example because the base URL, or an absolute URL in the path, is
  /// invalid.
  public static let invalidURL = Self(rawValue: "invalidURL")
  /// The path cannot be used, or the value of a variable would change the structure of the path.
  public static let invalidPath = Self(rawValue: "invalidPath")
  /// The HTTP method is not a token (RFC 9110, section 5.6.2).
  public static let invalidMethod = Self(rawValue: "invalidMethod")
  /// A header field cannot be sent, because its name or value is invalid, or because only the transport may set it.
  public static let invalidHeader = Self(rawValue: "invalidHeader")
  /// An argument cannot be encoded.
  public static let invalidArgument = Self(rawValue: "invalidArgument")
  /// The body of the request could not be made.
  public static let invalidBody = Self(rawValue: "invalidBody")
  /// The request's `check()` function rejected a parameter.
  public static let parameter = Self(rawValue: "parameter")
  /// The transport does not support a feature that the call needs, or no transport with the chosen name exists.
  public static let unsupported = Self(rawValue: "unsupported")

  // MARK: interceptor, authorize, admission
  /// An interceptor failed or rejected the call.
  public static let interceptor = Self(rawValue: "interceptor")
  /// No credential is available, because the credential provider failed or had no credential.
  public static let noCredential = Self(rawValue: "noCredential")
  /// The credential was rejected or has expired, and no new credential is available.
  public static let refreshFailed = Self(rawValue: "refreshFailed")
  /// No new credential is available at the moment, because the network or the authorization server failed, or because
  /// the refresh was cancelled. The user stays logged in. A call of the credential provider that fails in this way has
  /// the same effect, also without a refresh.
  public static let refreshUnavailable = Self(rawValue: "refreshUnavailable")
  /// The account of the call was logged out during the call.
  public static let loggedOut = Self(rawValue: "loggedOut")
  /// An interceptor of the app rejected the call. The library itself uses more specific codes.
  public static let admission = Self(rawValue: "admission")
  /// The queue of calls that wait to start is full (``AdmissionLimits/waiting``); the request was not sent.
  public static let queueFull = Self(rawValue: "queueFull")
  /// The client drains or has drained (``APIClient/drain(within:)``); the request was not sent.
  public static let draining = Self(rawValue: "draining")
  /// Too many of the most recent calls to the origin failed (``ServerSettings/breaker``); the request was not
  /// sent. The cause is a ``CircuitOpen``.
  public static let circuitOpen = Self(rawValue: "circuitOpen")
  /// Another call of the same request type and owner is running, and the request declares ``RepeatRule/ignoreNew``.
  public static let repeated = Self(rawValue: "repeated")

  // MARK: redirect
  /// There are more redirects than the policy allows.
  public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
  /// A redirect led back to a URL that the call had already requested.
  public static let redirectLoop = Self(rawValue: "redirectLoop")
  /// A redirect has no usable `Location` header field.
  public static let invalidRedirect = Self(rawValue: "invalidRedirect")
  /// The ``RedirectPolicy`` does not allow the redirect, for example a redirect from https to http.
  public static let redirectRefused = Self(rawValue: "redirectRefused")

  // MARK: validate, decode
  /// The call does not accept the status as success, or the response to a download or a stream rejects the credential
  /// with another status than 401 (``RefreshingProvider/isRejection(_:)``).
  public static let status = Self(rawValue: "status")
  /// The call does not accept the content type.
  public static let contentType = Self(rawValue: "contentType")
  /// The JSON does not have the structure that the request declares as its `shape`.
  public static let shape = Self(rawValue: "shape")
  /// The call expects JSON, and the body is not JSON or is empty.
  public static let notJSON = Self(rawValue: "notJSON")
  /// The status of the response means success, but the business code (the result code in the body) means failure.
  public static let business = Self(rawValue: "business")
  /// The request for the next page of a list has loaded the same page before, so the list would never end
  /// (``PagedRequest``).
  public static let pageLoop = Self(rawValue: "pageLoop")
  /// The body of the response could not be decoded.
  public static let decoding = Self(rawValue: "decoding")

  // MARK: cache
  /// The call may use only the cache, and the cache has no response to serve; ``APIError/cacheMiss`` gives the reason.
  public static let cacheMiss = Self(rawValue: "cacheMiss")

  // MARK: transfer
  /// Another download has the same target file.
  public static let busy = Self(rawValue: "busy")
  /// The disk is full, a quota is used up, or the file has reached the largest size that the system allows. The partial
  /// file is kept.
  public static let diskFull = Self(rawValue: "diskFull")
  /// A file cannot be used: no permission, no such folder, an unexpected file in its place, or a failing device.
  public static let file = Self(rawValue: "file")
  /// The target file exists, and the download is not allowed to replace it.
  public static let fileExists = Self(rawValue: "fileExists")
  /// The downloaded bytes do not have the expected checksum; the partial file was deleted.
  public static let checksumMismatch = Self(rawValue: "checksumMismatch")
  /// The response does not continue at the end of the partial file, or is longer than announced. The partial file keeps
  /// only the bytes that were durably stored before this response.
  public static let resumeMismatch = Self(rawValue: "resumeMismatch")

  /// A background transfer failed. Either the system dropped the transfer, for example because the user closed the app,
  /// or the file from the system has the wrong length. A failed download can be started again. After a failed upload,
  /// the server may have received the body anyway.
  public static let interrupted = Self(rawValue: "interrupted")

  // MARK: group
  /// A step of a chain, or the body of a group, threw an error.
  public static let step = Self(rawValue: "step")
  /// The caller asked for more successes than the batch has members.
  public static let tooFew = Self(rawValue: "tooFew")

  // MARK: the end
  /// The call was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The total time-out of the call, or the deadline of its group, has passed.
  public static let deadline = Self(rawValue: "deadline")
}

/// The codes of failures in the stage ``APIError/Stage/transport``. Each has the name of its ``TransportFailure/Kind``;
/// the code ``unsupported`` is shared with other stages.
extension APIError.Code {
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
