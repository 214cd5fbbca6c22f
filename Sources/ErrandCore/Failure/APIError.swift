import ErrandSupport

/// Why a call failed: the stage in which it failed, a stable code, and all details that are known.
///
/// ```
/// APIError
/// ├── build        invalidURL invalidPath invalidMethod invalidHeader invalidArgument invalidBody invalidChecksum
/// │                parameter unsupported
/// ├── interceptor  interceptor, or the code of the APIError that an interceptor threw
/// ├── authorize    noCredential refreshFailed refreshUnavailable, invalidArgument for an account without a name
/// ├── admission    queueFull circuitOpen draining repeated, or a code that an interceptor defines
/// ├── transport    the kinds of TransportFailure
/// ├── redirect     tooManyRedirects redirectLoop invalidRedirect redirectRefused
/// ├── validate     status contentType shape notJSON business pageLoop
/// ├── decode       decoding reform, tooLarge for a line of a stream
/// ├── cache        cacheMiss
/// ├── transfer     busy diskFull file fileExists checksumMismatch resumeMismatch interrupted unsupported,
/// │                invalidURL for a fresh URL, tooLarge for a download
/// ├── group        step tooFew
/// ├── cancelled    cancelled loggedOut
/// └── deadline     deadline
/// ```
///
/// The descriptions and dumps of an error show no secrets.
public struct APIError: Error, Sendable {
  /// The stage of a call, from building the request to decoding the response, in which the call failed.
  public enum Stage: String, Sendable, Hashable, Codable {
    /// The call failed while its request was built. Nothing was sent.
    case build
    /// An interceptor of the app failed or rejected the call.
    case interceptor
    /// The call failed while its credential was fetched or refreshed.
    case authorize
    /// The call was not allowed to start its HTTP exchange, for example because the queue is full.
    case admission
    /// The exchange with the server failed.
    case transport
    /// A redirect could not be followed.
    case redirect
    /// The response was rejected, for example because of its status or its content type.
    case validate
    /// The response could not be decoded.
    case decode
    /// The call may use only the cache, and the cache has no response to serve.
    case cache
    /// A download or an upload failed.
    case transfer
    /// A batch or a chain failed outside the calls of its members.
    case group
    /// The call was cancelled.
    case cancelled
    /// The total time-out of the call, or the deadline of its group, has passed.
    case deadline
  }

  /// A stable code for the reason of a failure. Interceptors and later versions of Errand may define more codes.
  public struct Code: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The code as text, fit for logs and analytics.
    public let rawValue: String
    /// Makes a code from its text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The code as text.
    public var description: String { rawValue }
  }

  /// The values of an error. An error cannot be changed, so `with(_:)` changes a copy of the values and builds a new
  /// error.
  struct Details: Sendable {
    var stage: Stage
    var code: Code
    var message: String
    var request: HTTPRequest?
    var response: HTTPResponse?
    var metrics: CallMetrics?
    var isOfAnotherCall = false
    var errorBody: (any Sendable)?
    var businessCode: String?
    var serverMessage: String?
    var cause: (any Error)?
    var members: [GroupMember] = []
  }

  /// The values are stored in one object, so that an error is a single reference.
  private let storage: Boxed<Details>
  private var details: Details { storage.value }

  init(_ details: Details) { storage = Boxed(details) }

  /// Makes an error, for example in an interceptor that rejects a call.
  public init(_ stage: Stage, _ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.init(Details(stage: stage, code: code, message: message, cause: cause))
  }

  /// The stage in which the call failed.
  public var stage: Stage { details.stage }
  /// A stable code for the reason why the call failed.
  public var code: Code { details.code }
  /// One English sentence for people. It names the value or part that is wrong, and what the caller can do about it.
  public var message: String { details.message }
  /// The request as it was last sent, after redirects. If nothing was sent, it is the request that was built. Nil if
  /// the request could not be built.
  public var request: HTTPRequest? { details.request }
  /// The response, if there is one. Its body is not longer than the limits of the client allow.
  public var response: HTTPResponse? { details.response }
  /// How many times a request was sent over the network.
  public var attempts: Int { details.metrics?.attempts ?? 0 }
  /// The metrics of the failed call; nil if the call was never started.
  public var metrics: CallMetrics? { details.metrics }
  /// The business code of the response, as text. It is the result code that the server puts into the ``Envelope``
  /// around the value.
  public var businessCode: String? { details.businessCode }
  /// The message of the server that rejected the request, without the words of ``message`` around it; nil if the
  /// response has none. It is complete, and only secrets of the request are masked.
  ///
  /// It is the text at ``Envelope/message``, otherwise the title and the detail of ``ProblemDetails``, otherwise the
  /// `errorDescription` of an ``APIRequest/ErrorBody`` that conforms to `LocalizedError`.
  public var serverMessage: String? { details.serverMessage }
  /// The reason why the cache had no response to serve; nil unless the call was allowed to use only the cache.
  public var cacheMiss: CacheMiss? { code == .cacheMiss ? (cause as? CacheMissError)?.miss : nil }
  /// The underlying error that caused this error; nil if there is none.
  public var cause: (any Error)? { details.cause }
  /// The position of the failed call in nested batches and chains. The first element is the member of the outermost
  /// group, the second is the member inside that member, and so on. Empty if the call belongs to no group.
  public var members: [GroupMember] { details.members }
  /// The status code of the response, if there is one.
  public var status: Int? { details.response?.status }
  /// Not available. The status code is ``status``.
  @available(*, unavailable, renamed: "status")
  public var statusCode: Int? { status }

  /// The response body as the type that the request declares for errors (``APIRequest/ErrorBody``), or its bytes as
  /// `Data`. The result is nil if there is no body, if the body has another form, or if the request declares another
  /// type as its `ErrorBody`. To read a type that the request does not declare, decode the bytes.
  ///
  /// ``ProblemDetails`` need not be declared: each call reads them from the body, if the body has their media type.
  public func body<Body: Decodable & Sendable>(as type: Body.Type = Body.self) -> Body? {
    if let known = details.errorBody as? Body ?? details.response?.body as? Body { return known }
    guard Body.self == ProblemDetails.self, let response else { return nil }
    return (try? ProblemDetails(response)) as? Body
  }

  package func with(_ response: HTTPResponse) -> APIError { with { $0.response = response } }

  func with(_ change: (inout Details) -> Void) -> APIError {
    var details = self.details
    change(&details)
    return APIError(details)
  }
}

extension APIError {
  /// The error of a call that may use only the cache and finds no response in the cache.
  package static func cacheMiss(_ miss: CacheMiss) -> APIError {
    APIError(.cache, .cacheMiss, sentence(for: miss), cause: CacheMissError(miss: miss))
  }

  private static func sentence(for miss: CacheMiss) -> String {
    switch miss {
    case .disabled:
      "This request does not use the cache; declare a cache policy, and do not start the call with caching turned off."
    case .missing: "Nothing is stored for this request; send the request once before you read only from the cache."
    case .unavailable: "The cache store is not available or did not reply in time; check its disk or server."
    case .expired: "The stored response has expired and must not be served; load it again."
    case .needsServer:
      "The stored response is fresh, but this request may be served only after asking the server; load it again."
    case .otherVersion: "The stored response belongs to another version of the request's cache policy; load it again."
    case .otherAccount: "The stored response belongs to another account; load it again."
    case .otherAppVersion: "The stored response was stored by another version of the app; load it again."
    case .damaged: "The stored response was damaged or failed the request's checks and has been removed; load it again."
    }
  }
}

/// Stores the reason of a cache miss as the cause of an error, so that ``APIError/cacheMiss`` can return it.
struct CacheMissError: Error {
  let miss: CacheMiss
}

extension APIError {
  /// Whether an error has ended another call. Code of the app in the pipeline, such as an interceptor, may send a call
  /// and throw its error. Such an error says nothing about the request of the outer call or about its server.
  static func hasEndedAnotherCall(_ error: any Error) -> Bool { (error as? APIError)?.metrics != nil }

  /// The same for an error that has then ended the outer call, too: stage, code and response are those of the call that
  /// an interceptor of the app sent.
  package var isOfAnotherCall: Bool { details.isOfAnotherCall }

  /// Whether the client itself refused to send the request, because its queue is full or the circuit is open.
  package static func isRefusal(_ error: any Error) -> Bool {
    guard let error = error as? APIError, !hasEndedAnotherCall(error) else { return false }
    return error.code == .queueFull || error.code == .circuitOpen
  }
}

extension TransportFailure {
  /// The transport failure that an error represents. It is the error itself, or the cause of the error if an
  /// interceptor wrapped the failure. Nil if there is no transport failure.
  package static func behind(_ error: any Error) -> TransportFailure? {
    switch error {
    case let failure as TransportFailure: failure
    case let error as APIError where error.stage == .transport: error.cause.flatMap(behind)
    default: nil
    }
  }
}

extension APIError {
  /// Throws an error if the method, a header field or the body of a request cannot be sent.
  static func check(_ request: HTTPRequest) throws(APIError) {
    do throws(WireFault) { try WireRules.check(request) } catch { throw APIError(error) }
  }

  /// Throws an error if a header field cannot be sent, because its name or value is invalid or only the transport may
  /// set it.
  static func check(_ field: HTTPField) throws(APIError) {
    do throws(WireFault) { try WireRules.check(field) } catch { throw APIError(error) }
  }

  private init(_ fault: WireFault) {
    let code: Code =
      switch fault.part {
      case .method: .invalidMethod
      case .body: .invalidBody
      case .header: .invalidHeader
      }
    self = .build(code, fault.message)
  }
}

/// The position of a member in its group. Errors contain the positions, so that they name the member that failed.
public struct GroupMember: Sendable, Hashable, CustomStringConvertible {
  /// The kind of the group.
  public let kind: GroupKind
  /// The group's name.
  public let group: String
  /// The position of the member, counted from 0: in the order of declaration in a batch, in the order of starting in a
  /// chain.
  public let index: Int
  /// The member's name: the name of its request type.
  public let name: String

  /// A clause such as `member 2 of the batch, Avatar`.
  public var description: String {
    let role = kind == .batch ? "member" : "step"
    let whole = group.lowercased() == "\(kind)" ? "the \(kind)" : "the \(kind) \(group)"
    return "\(role) \(index + 1) of \(whole), \(name)"
  }
}

/// The kind of a group.
public enum GroupKind: Sendable, Hashable {
  /// The members of the group run at the same time.
  case batch
  /// The steps of the group run one after the other. A step can start branches, which run at the same time.
  case chain
}
