extension APIError.Code {
  // MARK: build
  /// The base URL or an absolute path is not a URL that can be sent.
  public static let invalidURL = Self(rawValue: "invalidURL")
  /// The path cannot be used, or a variable would change its structure.
  public static let invalidPath = Self(rawValue: "invalidPath")
  /// The method is not a token.
  public static let invalidMethod = Self(rawValue: "invalidMethod")
  /// The name or value of a header field cannot be sent, or only the transport may set the field.
  public static let invalidHeader = Self(rawValue: "invalidHeader")
  /// An argument cannot be encoded.
  public static let invalidArgument = Self(rawValue: "invalidArgument")
  /// The body could not be made.
  public static let invalidBody = Self(rawValue: "invalidBody")
  /// The request's own check rejected a parameter.
  public static let parameter = Self(rawValue: "parameter")
  /// The transport does not support something that the call needs, or no such transport exists.
  public static let unsupported = Self(rawValue: "unsupported")

  // MARK: interceptor, authorize, admission
  /// An interceptor failed or rejected the call.
  public static let interceptor = Self(rawValue: "interceptor")
  /// No credential is available: the provider failed or had none.
  public static let noCredential = Self(rawValue: "noCredential")
  /// The credential was rejected or has expired, and no other is available.
  public static let refreshFailed = Self(rawValue: "refreshFailed")
  /// No new credential is available at the moment, because the network or the authorization server failed. The user
  /// stays logged in.
  public static let refreshUnavailable = Self(rawValue: "refreshUnavailable")
  /// The account of the call was logged out during the call.
  public static let loggedOut = Self(rawValue: "loggedOut")
  /// An interceptor of the app rejected the call. The library itself uses more specific codes.
  public static let admission = Self(rawValue: "admission")
  /// The queue is full (``AdmissionLimits/waiting``); the request was not sent.
  public static let queueFull = Self(rawValue: "queueFull")
  /// Too many of the most recent calls to the origin failed (``ClientConfiguration/breaker``); the request was not
  /// sent. The cause is a ``CircuitOpen``.
  public static let circuitOpen = Self(rawValue: "circuitOpen")
  /// Another call of the same request type and owner is running, and the request declares ``RepeatRule/ignoreNew``.
  public static let repeated = Self(rawValue: "repeated")

  // MARK: redirect
  /// There are more redirects than the policy allows.
  public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
  /// A redirect led back to a URL that the call had already requested.
  public static let redirectLoop = Self(rawValue: "redirectLoop")
  /// A redirect has no usable `Location`.
  public static let invalidRedirect = Self(rawValue: "invalidRedirect")
  /// The policy does not follow the redirect, for example from https to http.
  public static let redirectRefused = Self(rawValue: "redirectRefused")

  // MARK: validate, decode
  /// The call does not accept the status as success.
  public static let status = Self(rawValue: "status")
  /// The call does not accept the content type.
  public static let contentType = Self(rawValue: "contentType")
  /// The JSON does not have the declared shape.
  public static let shape = Self(rawValue: "shape")
  /// The call expects JSON, and the body is not JSON or is empty.
  public static let notJSON = Self(rawValue: "notJSON")
  /// The business code in a successful response means failure.
  public static let business = Self(rawValue: "business")
  /// The body could not be decoded.
  public static let decoding = Self(rawValue: "decoding")

  // MARK: cache
  /// The call used only the cache, which had nothing to serve; ``APIError/cacheMiss`` gives the reason.
  public static let cacheMiss = Self(rawValue: "cacheMiss")

  // MARK: transfer
  /// Another download has the same target.
  public static let busy = Self(rawValue: "busy")
  /// The disk is full, or a quota or the limit of a file's size is reached. The partial file is kept.
  public static let diskFull = Self(rawValue: "diskFull")
  /// A file cannot be used: no permission, no such folder, an unexpected file in its place, or a failing device.
  public static let file = Self(rawValue: "file")
  /// The target exists, and the download does not replace it.
  public static let fileExists = Self(rawValue: "fileExists")
  /// The bytes do not have the expected checksum; the partial file was deleted.
  public static let checksumMismatch = Self(rawValue: "checksumMismatch")
  /// The response does not continue at the end of the partial file, or is longer than announced. Only bytes that were
  /// stored durably before are kept.
  public static let resumeMismatch = Self(rawValue: "resumeMismatch")

  /// The system dropped a background transfer, for example because the user closed the app. A download is started
  /// again; for an upload it is unknown whether the server has received it.
  public static let interrupted = Self(rawValue: "interrupted")

  // MARK: group
  /// A step of a chain, or the body of a group, threw an error.
  public static let step = Self(rawValue: "step")
  /// The caller asked for more successes than the batch has members.
  public static let tooFew = Self(rawValue: "tooFew")

  // MARK: the end
  /// The call was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The total deadline passed.
  public static let deadline = Self(rawValue: "deadline")
}
