extension APIError.Code {
  // MARK: build
  /// The base URL or an absolute path is no URL that can be sent.
  public static let invalidURL = Self(rawValue: "invalidURL")
  /// The path cannot be used, or a variable would change its shape.
  public static let invalidPath = Self(rawValue: "invalidPath")
  /// The method is no token.
  public static let invalidMethod = Self(rawValue: "invalidMethod")
  /// A field's name or value cannot be sent, or the field belongs to the transport.
  public static let invalidHeader = Self(rawValue: "invalidHeader")
  /// An argument cannot be written.
  public static let invalidArgument = Self(rawValue: "invalidArgument")
  /// The body could not be made.
  public static let invalidBody = Self(rawValue: "invalidBody")
  /// A parameter was refused by the request's own check.
  public static let parameter = Self(rawValue: "parameter")
  /// The transport cannot do what the call needs, or there is no such transport.
  public static let unsupported = Self(rawValue: "unsupported")

  // MARK: interceptor, authorize, admission
  /// An interceptor failed or refused the call.
  public static let interceptor = Self(rawValue: "interceptor")
  /// The credential could not be had.
  public static let noCredential = Self(rawValue: "noCredential")
  /// The credential was refused or has run out, and no other could be had.
  public static let refreshFailed = Self(rawValue: "refreshFailed")
  /// Another credential could not be had at this moment: the network failed, or the server that gives them did. Whoever
  /// is logged in still is.
  public static let refreshUnavailable = Self(rawValue: "refreshUnavailable")
  /// The call's account was logged out while it was under way.
  public static let loggedOut = Self(rawValue: "loggedOut")
  /// The call was not let in, by an interceptor of your own; the library throws codes that say why.
  public static let admission = Self(rawValue: "admission")
  /// As many calls wait as may (``AdmissionLimits/waiting``); the request was not sent.
  public static let queueFull = Self(rawValue: "queueFull")
  /// Too many of the last calls to the origin failed (``ClientConfiguration/breaker``); the request was not
  /// sent. The cause is a ``CircuitOpen``.
  public static let circuitOpen = Self(rawValue: "circuitOpen")
  /// Another call of this kind is under way, and the request ignores repeats.
  public static let repeated = Self(rawValue: "repeated")

  // MARK: redirect
  /// More redirects than the policy allows.
  public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
  /// A redirect led back to where the call had been.
  public static let redirectLoop = Self(rawValue: "redirectLoop")
  /// A redirect without a usable `Location`.
  public static let invalidRedirect = Self(rawValue: "invalidRedirect")
  /// A redirect that the policy does not follow, such as from https to http.
  public static let redirectRefused = Self(rawValue: "redirectRefused")

  // MARK: validate, decode
  /// The status is not one the call takes for success.
  public static let status = Self(rawValue: "status")
  /// The content type is not one the call takes.
  public static let contentType = Self(rawValue: "contentType")
  /// The JSON has not the shape that was asked for.
  public static let shape = Self(rawValue: "shape")
  /// The body is no JSON where JSON was asked for; an empty one too.
  public static let notJSON = Self(rawValue: "notJSON")
  /// The server's own code inside a successful answer says failure.
  public static let business = Self(rawValue: "business")
  /// The body could not be decoded.
  public static let decoding = Self(rawValue: "decoding")

  // MARK: cache
  /// The cache alone was asked and had nothing to serve; ``APIError/cacheMiss`` says why.
  public static let cacheMiss = Self(rawValue: "cacheMiss")

  // MARK: transfer
  /// Another download has the same target.
  public static let busy = Self(rawValue: "busy")
  /// There is no room: disk, quota or the limit of a file's size. The part is kept.
  public static let diskFull = Self(rawValue: "diskFull")
  /// A file could not be used: not allowed, no such folder, something planted in its place, a device that failed.
  public static let file = Self(rawValue: "file")
  /// The target is there, and the download does not replace it.
  public static let fileExists = Self(rawValue: "fileExists")
  /// The bytes do not hash to what they should; the part was deleted.
  public static let checksumMismatch = Self(rawValue: "checksumMismatch")
  /// The server's answer does not go on where the part ends, or is longer than it announced; nothing of it is kept that
  /// was not committed before.
  public static let resumeMismatch = Self(rawValue: "resumeMismatch")

  /// The system let go of a transfer in the background, such as for a user who closed the app. A download is handed over
  /// again; of an upload nobody knows whether the server has it.
  public static let interrupted = Self(rawValue: "interrupted")

  // MARK: group
  /// A step of a chain, or the body of a group, threw an error of its own.
  public static let step = Self(rawValue: "step")
  /// More successes were asked for than a batch has members.
  public static let tooFew = Self(rawValue: "tooFew")

  // MARK: the end
  /// The call was cancelled.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The total deadline passed.
  public static let deadline = Self(rawValue: "deadline")
}
