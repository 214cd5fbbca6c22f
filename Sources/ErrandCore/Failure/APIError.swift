/// Why a call failed: the stage it failed in, a stable code, and all that is known about it.
///
/// ```
/// APIError
/// ├── build        invalidURL invalidPath invalidMethod invalidHeader invalidArgument invalidBody invalidChecksum
/// │                parameter unsupported
/// ├── interceptor  interceptor, or the code of the APIError that an interceptor threw
/// ├── authorize    noCredential refreshFailed refreshUnavailable, invalidArgument for an account without a name
/// ├── admission    queueFull circuitOpen repeated, or a code of an interceptor's own
/// ├── transport    the kinds of TransportFailure
/// ├── redirect     tooManyRedirects redirectLoop invalidRedirect redirectRefused
/// ├── validate     status contentType shape notJSON business
/// ├── decode       decoding reform, tooLarge for a line of a stream
/// ├── cache        cacheMiss
/// ├── transfer     busy diskFull file fileExists checksumMismatch resumeMismatch interrupted unsupported,
/// │                invalidURL for a fresh URL, tooLarge for a download
/// ├── group        step tooFew
/// ├── cancelled    cancelled loggedOut
/// └── deadline     deadline
/// ```
///
/// Nothing in it shows a secret when it is printed.
public struct APIError: Error, Sendable {
  /// The part of the way on which a call failed.
  public enum Stage: String, Sendable, Hashable, Codable {
    /// While the request was built; nothing was sent.
    case build
    /// In an interceptor of the app.
    case interceptor
    /// While the credential was fetched.
    case authorize
    /// While waiting for its turn.
    case admission
    /// On the wire.
    case transport
    /// While following redirects.
    case redirect
    /// When the answer was judged.
    case validate
    /// When the answer was decoded.
    case decode
    /// In the cache.
    case cache
    /// In a download or an upload.
    case transfer
    /// In a batch or a chain, outside its calls.
    case group
    /// By a cancel.
    case cancelled
    /// By the total deadline.
    case deadline
  }

  /// What went wrong within a stage: a stable, open set of codes.
  public struct Code: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The code as text, fit for logs and analytics.
    public let rawValue: String
    /// Makes a code.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The code as text.
    public var description: String { rawValue }
  }

  private final class Storage: Sendable {
    let stage: Stage
    let code: Code
    let message: String
    let request: HTTPRequest?
    let response: HTTPResponse?
    let attempts: Int
    let errorBody: (any Sendable)?
    let businessCode: String?
    let cause: (any Error)?
    let members: [GroupMember]

    init(_ details: Details) {
      stage = details.stage
      code = details.code
      message = details.message
      request = details.request
      response = details.response
      attempts = details.attempts
      errorBody = details.errorBody
      businessCode = details.businessCode
      cause = details.cause
      members = details.members
    }
  }

  /// What an error is made of.
  struct Details {
    var stage: Stage
    var code: Code
    var message: String
    var request: HTTPRequest?
    var response: HTTPResponse?
    var attempts = 0
    var errorBody: (any Sendable)?
    var businessCode: String?
    var cause: (any Error)?
    var members: [GroupMember] = []
  }

  private let storage: Storage

  init(_ details: Details) { storage = Storage(details) }

  /// Makes an error of one's own, such as for an interceptor that refuses a call.
  public init(_ stage: Stage, _ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.init(Details(stage: stage, code: code, message: message, cause: cause))
  }

  /// The stage it failed in.
  public var stage: Stage { storage.stage }
  /// What went wrong.
  public var code: Code { storage.code }
  /// One English sentence for people: the culprit, and the cure where the caller has one.
  public var message: String { storage.message }
  /// The request as it was sent last, redirects followed, or as far as it was built; nil where it could not be built.
  public var request: HTTPRequest? { storage.request }
  /// The answer, if one came; its body is bounded by the client's limits.
  public var response: HTTPResponse? { storage.response }
  /// How many times something was put on the wire.
  public var attempts: Int { storage.attempts }
  /// The business code that an envelope held, as text.
  public var businessCode: String? { storage.businessCode }
  /// Why the cache had nothing to serve; nil where it was not asked alone.
  public var cacheMiss: CacheMiss? { code == .cacheMiss ? (cause as? CacheMissError)?.miss : nil }
  /// What was thrown underneath.
  public var cause: (any Error)? { storage.cause }
  /// Where in a batch or a chain it happened: the member of the outermost group first, then the member's own member;
  /// empty for a call on its own.
  public var members: [GroupMember] { storage.members }
  /// The status code of the answer, if one came.
  public var status: Int? { storage.response?.status }

  /// The server's body as the type that the request names for errors (``APIRequest/ErrorBody``); nil where no body
  /// came or it is of another form.
  public func body<Body: Decodable & Sendable>(as type: Body.Type = Body.self) -> Body? {
    storage.errorBody as? Body
  }

  /// The same error with the answer that it is about.
  package func with(_ response: HTTPResponse) -> APIError { with { $0.response = response } }

  /// The same error with more known about it; what is there already stays.
  func with(_ change: (inout Details) -> Void) -> APIError {
    var details = Details(
      stage: stage, code: code, message: message, request: request, response: response, attempts: attempts,
      errorBody: storage.errorBody, businessCode: businessCode, cause: cause,
      members: members)
    change(&details)
    return APIError(details)
  }
}

extension APIError {
  /// The error of a call that asked the cache alone.
  package static func cacheMiss(_ miss: CacheMiss) -> APIError {
    APIError(.cache, .cacheMiss, sentence(for: miss), cause: CacheMissError(miss: miss))
  }

  private static func sentence(for miss: CacheMiss) -> String {
    switch miss {
    case .disabled:
      "Nothing is kept for this request; declare a cache policy, and do not start the call without the cache."
    case .missing: "Nothing is stored for this request; load it once before asking the cache alone."
    case .unavailable: "The store of the cache could not be asked in time; see whether it works and can be reached."
    case .expired: "What is stored for this request has expired and its rules forbid to serve it."
    case .otherVersion: "What is stored for this request is of another version of its cache policy."
    case .otherAccount: "What is stored for this request belongs to another account."
    case .otherAppVersion: "What is stored for this request was stored by another version of the app."
    case .damaged: "What was stored for this request was damaged or is refused by its rules, and has been removed."
    }
  }
}

/// The reason in a form that the error can be asked for.
struct CacheMissError: Error {
  let miss: CacheMiss
}

extension TransportFailure {
  /// The failure that an error stands for: itself, or the one that an interceptor around the exchange has seen; nil for
  /// another error.
  package static func behind(_ error: any Error) -> TransportFailure? {
    switch error {
    case let failure as TransportFailure: failure
    case let error as APIError where error.stage == .transport: error.cause.flatMap(behind)
    default: nil
    }
  }
}

extension APIError {
  /// Throws where a request may not be sent as it is.
  static func check(_ request: HTTPRequest) throws(APIError) {
    do throws(WireFault) { try WireRules.check(request) } catch { throw APIError(error) }
  }

  /// Throws where a field may not be sent as it is.
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
