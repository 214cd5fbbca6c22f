/// A decision that the library made during a call, with the inputs that settled it. A client records decisions if
/// ``ClientConfiguration/record`` is on.
///
/// The description is one English sentence without a capital letter and a full stop, such as `not retried after status
/// 503: all 3 attempts are used`. Secrets are masked in decisions of a ``FlightCall``.
public enum CallDecision: Sendable, Hashable {
  /// The cache looked for a stored response, or decided whether to store a response (RFC 9111).
  case cache(CacheStep)
  /// The call shared an exchange that another call had started. The value is the number of that call.
  case joined(call: UInt64)
  /// The call left a shared exchange and sent its request separately.
  case notJoined(JoinObstacle)
  /// The call waited in the admission queue.
  case waited(Duration, AdmissionShortage)
  /// The request was sent again after a wait. The attempt that follows has the number `attempt`.
  case retried(RetryReason, attempt: Int, of: Int, after: Duration)
  /// The request was not sent again after an attempt that failed.
  case notRetried(RetryReason, HTTPMethod, because: RetryObstacle)
  /// The circuit breaker rejected the request. It rejects requests for at most the given time.
  case circuitOpen(HTTPURL.Origin, for: Duration)
  /// The call needed a newer credential.
  case refreshed(RefreshCause, RefreshResult)
  /// A redirect was followed (RFC 9110 section 15.4).
  case redirected(Redirect)
  /// A redirect was not followed.
  case notRedirected(status: Int, reason: String)
  /// A server failed, and the request was sent to another server.
  case failedOver(RetryReason, from: HTTPURL.Origin, to: HTTPURL.Origin)
  /// No response arrived in the given time, so the request was sent a second time in parallel.
  case hedged(after: Duration)
  /// No response arrived in the given time, but the retry budget of the origin did not allow a second request.
  case notHedged(after: Duration, HTTPURL.Origin)
  /// An interceptor of the app sent another request during the call. The value is the name of its type.
  case sentAgain(interceptor: String)
  /// A download continued a partial file, or began at the first byte.
  case download(DownloadStep)
  /// A request was passed to the transport.
  case sent(Route)
  /// The call was stopped by its deadline. The value is the total time-out; nil if the deadline of a group passed.
  case deadlinePassed(limit: Duration?)
  /// The call was cancelled. The value is the message of its error; nil if the app cancelled the call.
  case cancelled(String?)
}

extension CallDecision {
  // MARK: - Cache

  /// One step of the cache during a call.
  public enum CacheStep: Sendable, Hashable {
    /// A stored response was served without asking the server.
    case served(ServingRule, StoredAge, refresh: BackgroundRefresh)
    /// The request was sent to the server to confirm a stored response.
    case validating(StoredAge)
    /// The server confirmed the stored response with status 304. The value is the time for which the response is fresh
    /// now; nil if the time is unknown.
    case revalidated(freshFor: Duration?)
    /// No stored response was used. The first value is nil if the cache was not searched.
    case notServed(CacheMiss?, reason: String)
    /// The response of the server was stored. The value is the time for which it is fresh; nil if the time is unknown.
    case stored(freshFor: Duration?)
    /// The response of the server was not stored.
    case notStored(reason: String)
  }

  /// The rule that allowed serving a stored response.
  public enum ServingRule: Sendable, Hashable {
    /// The stored response is fresh.
    case fresh
    /// The response's `stale-while-revalidate` allows serving it for the given time after its lifetime (RFC 5861
    /// section 3).
    case staleWhileRevalidate(Duration?)
    /// The request's `max-stale` allows serving it (RFC 9111 section 5.2.1.2).
    case maxStale(Duration?)
    /// The stored response is fresh but has `no-cache`, and the call accepts it without a validation.
    case withoutValidation
    /// The call accepts a stored response of any age.
    case anyAge
    /// The server failed or could not be reached (RFC 5861 section 4).
    case staleIfError
  }

  /// The age and the freshness lifetime of a stored response (RFC 9111 section 4.2).
  public struct StoredAge: Sendable, Hashable {
    /// The source of a freshness lifetime.
    public enum Source: Sendable, Hashable {
      /// The response's `max-age` or `Expires`.
      case response
      /// A tenth of the time since `Last-Modified`.
      case lastModified
      /// The cache policy of the request.
      case request
      /// No lifetime is known, so the response is stale from the start.
      case unknown
    }

    /// The age; nil if the age is unknown because the clock was set back.
    public let age: Duration?
    /// The freshness lifetime.
    public let lifetime: Duration
    /// The source of the lifetime.
    public let source: Source

    package init(age: Duration?, lifetime: Duration, source: Source) {
      (self.age, self.lifetime, self.source) = (age, lifetime, source)
    }
  }

  /// Whether the cache refreshed a stale response in the background.
  public enum BackgroundRefresh: Sendable, Hashable {
    /// No refresh was needed or allowed.
    case none
    /// The call started a refresh.
    case started
    /// A refresh of the stored response was already running, or had failed recently.
    case notStarted
  }

  // MARK: - Joining and admission

  /// The reason why a call did not share an exchange with other calls.
  public enum JoinObstacle: Sendable, Hashable {
    /// The request body is streamed, so requests cannot be compared.
    case streamedBody
    /// A credential provider sent the call, and the shared exchange might wait for that provider.
    case insideProvider
    /// An exchange interceptor sent the call while its own call holds a slot of the admission queue.
    case insideExchange
    /// The response may belong to another account, so the shared exchange was kept for one call.
    case unknownAccount
  }

  /// The limit that made a call wait in the admission queue.
  public enum AdmissionShortage: Sendable, Hashable {
    /// All slots of an origin were taken by exchanges of the given calls.
    case host(HTTPURL.Origin, taken: Int, of: Int, by: [UInt64])
    /// All slots of the client were taken by exchanges of the given calls.
    case total(taken: Int, of: Int, by: [UInt64])
    /// The rate limit of the origin had no token.
    case rate(HTTPURL.Origin)
    /// Other calls to the origin waited already. The value is their number.
    case queue(HTTPURL.Origin, ahead: Int)
  }

  // MARK: - Retries

  /// The reason why a failed attempt was not followed by another.
  public enum RetryObstacle: Sendable, Hashable {
    /// The retry policy is ``RetryPolicy/none``.
    case policy
    /// The policy does not list the status.
    case status
    /// Another attempt would fail in the same way.
    case permanent
    /// The server may have processed the request, and the request must not be processed twice (RFC 9110 section 9.2.2).
    case notIdempotent
    /// All attempts that the policy allows are used.
    case attempts(Int)
    /// The request body cannot be sent again.
    case bodyUsedUp
    /// A part of the response was already delivered.
    case delivered
    /// A stored response can be served instead.
    case storedResponse
    /// The server's `Retry-After` is longer than the limit of the policy.
    case retryAfter(Duration, limit: Duration)
    /// The wait would not end before the deadline. `left` is the time until the deadline.
    case deadline(wait: Duration, left: Duration)
    /// The retry budget of the origin is used up.
    case budget(HTTPURL.Origin)
  }

  // MARK: - Credentials

  /// The reason why a call needed a newer credential.
  public enum RefreshCause: Sendable, Hashable {
    /// The server rejected the credential with status 401.
    case rejected
    /// The server rejected the credential in a response with another status
    /// (``RefreshingProvider/isRejection(_:)``).
    case rejectedInBody
    /// The credential expires soon.
    case expiring
  }

  /// How a call got a newer credential, or why it got none.
  public enum RefreshResult: Sendable, Hashable {
    /// The call started a refresh.
    case refreshed
    /// The call waited for a refresh that another call had started.
    case waited
    /// A newer credential was already available.
    case alreadyNewer
    /// The refresh failed. The value is the message of its error.
    case failed(String)
    /// The credential was refreshed before in this call.
    case refreshedBefore
    /// The credential provider cannot refresh credentials, or the request declares its own credential.
    case notPossible
    /// The request body cannot be sent again.
    case bodyUsedUp
    /// A part of the response was already delivered.
    case delivered
    /// The client refuses another refresh, because there were too many recently or because it cannot be shared safely.
    case refused
  }

  // MARK: - Redirects, downloads, transport

  /// A redirect that was followed.
  public struct Redirect: Sendable, Hashable {
    /// The status of the redirect, such as 302.
    public let status: Int
    /// The URL to which the redirect leads, masked as the record demands.
    public let target: String
    /// The method of the request that was redirected.
    public let method: HTTPMethod
    /// The method of the request that follows.
    public let newMethod: HTTPMethod
    /// Whether credentials were removed because the redirect leads to another origin.
    public let removesSecrets: Bool
  }

  /// How a download began or continued.
  public enum DownloadStep: Sendable, Hashable {
    /// The download requested the bytes after the given number of bytes in the partial file.
    case resumed(at: Int64, of: Int64?)
    /// The download requested the whole file.
    case whole(reason: String)
    /// The download discarded the partial file and started again.
    case startedOver(reason: String)
    /// The download accepted the existing file with this number of bytes, and requested nothing.
    case existing(bytes: Int64)
  }

  /// The transport and the connection of one exchange.
  public struct Route: Sendable, Hashable {
    /// Why the client uses the transport.
    public enum Choice: Sendable, Hashable {
      /// The transport is the default of the platform.
      case platform
      /// The configuration names the transport.
      case named(String)
      /// The configuration contains the transport.
      case configured
    }

    /// The type of the transport, such as `EngineTransport`.
    public let transport: String
    /// Why the client uses the transport.
    public let choice: Choice
    /// Whether the connection had been used before; nil if the transport does not know.
    public let isConnectionReused: Bool?
    /// The address of the server; nil if the transport does not know it.
    public let address: String?
  }
}

extension CallDecision {
  /// The decision with masked URLs and texts of errors.
  func masked(_ mask: FlightMask) -> CallDecision {
    switch self {
    case .refreshed(let cause, .failed(let message)): .refreshed(cause, .failed(mask.text(message)))
    case .redirected(let redirect):
      .redirected(
        Redirect(
          status: redirect.status, target: mask.url(redirect.target), method: redirect.method,
          newMethod: redirect.newMethod, removesSecrets: redirect.removesSecrets))
    case .notRedirected(let status, let reason): .notRedirected(status: status, reason: mask.text(reason))
    case .cancelled(let message?): .cancelled(mask.text(message))
    default: self
    }
  }
}
