public import ErrandJSON
public import Foundation

/// One API call as a value: it describes the call, and an ``APIClient`` carries it out.
///
/// ```swift
/// struct GetUser: APIRequest {
///   let id: Int
///   var path: Path { "/users/\(id)" }
///   var arguments: Arguments { ["verbose": true] }
///   struct Response: Decodable, Sendable { let nick: String; let level: Int }
/// }
/// let user = try await client.send(GetUser(id: 7))
/// ```
///
/// Every member except the path has a default. The value `.inherited` leaves a setting to the request's family and the
/// client. It is the default of every setting that the family or the client also has. The order of precedence is the
/// same everywhere: the call's options, the request, its family, the client. In an app whose default isolation is the
/// main actor, a protocol that refines this protocol, and its extensions, must be declared `nonisolated`.
///
/// A request should be a struct. For a class, Swift selects the defaults in the class that declares the conformance. A
/// subclass of this class can override only members that the class itself implements; other members of the subclass are
/// not read.
///
/// Each property is read at most once per call, with two exceptions: each ``LoadingIndicator`` reads ``indicator`` as
/// the call starts, and if a call fails, some properties are read again to mask secrets. Hooks, decoder, family,
/// time-outs, priority, accessories, ``repeats``, ``download`` and ``jsonDecoding`` are read on the thread that starts
/// the call. The other properties are read on the executor that runs the call: for `send`, `response` and `outcome` the
/// caller's executor, for `start` the global executor.
public protocol APIRequest<Response>: GroupStep {
  /// The value of a successful call: any `Decodable` type from JSON, `Data`, `String`, `JSONValue` or ``Nothing``.
  associatedtype Response: Sendable = Data
  /// The type that the body of a rejected response is decoded as; see ``APIError/body(as:)``.
  associatedtype ErrorBody: Decodable & Sendable = Data
  /// The type of a path. It has this short name for use inside requests.
  typealias Path = RequestPath

  /// The path below the server's base URL, or an absolute URL.
  var path: Path { get }
  /// The method; GET by default.
  var method: HTTPMethod { get }
  /// The server: base URL or CDN.
  var server: RequestServer { get }
  /// The family of requests whose settings apply to this request; nil for none.
  var family: RequestFamily? { get }

  /// The arguments of the request. They are sent in the query, in a form or as JSON.
  var arguments: Arguments { get }
  /// The place of the arguments: query, form or JSON body.
  var argumentFormat: ArgumentFormat { get }
  /// The text form of the arguments.
  var argumentStyle: ArgumentStyle { get }
  /// The body of the request; nil for none. If there is a body, the arguments go into the query.
  var body: RequestBody? { get }
  /// Header fields to set or to remove.
  var headers: RequestHeaders { get }
  /// The source of the credential; by default the client's provider.
  var credential: RequestCredential { get }
  /// Whether the request sends and stores the client's cookies.
  var cookies: CookieUse { get }

  /// The time-outs. A time-out that is nil is taken from the family or the client.
  var timeouts: Timeouts { get }
  /// The priority in the queue of the client.
  var priority: CallPriority { get }
  /// The networks that the call should use. This is a preference, which applies only if the transport can distinguish
  /// networks.
  var network: NetworkWish { get }
  /// The rule for redirects.
  var redirects: RedirectPolicy { get }

  /// The rule for retries. ``RetryPolicy/none`` means one attempt.
  var retries: RetryPolicy { get }
  /// Whether sending the request twice has the same effect as sending it once; by default the method decides.
  var idempotency: Idempotency { get }

  /// The cache policy; by default the rules of the family or the client.
  var cache: CachePolicy { get }
  /// The parts of the request from which the cache key is made.
  var cacheKey: CacheKeyRule { get }
  /// Another request under which the response is stored; nil to store the response under this request.
  var cachedAs: (any APIRequest)? { get }

  /// Decides whether the call may share one exchange with equal running calls; by default the rule of the family or the
  /// client.
  var joining: JoinRule { get }
  /// Decides what happens if a call starts while another call with this request type and owner is running. The property
  /// is read when the call starts.
  var repeats: RepeatRule { get }

  /// The file that receives the response body; nil to keep the body in memory. If there is a file, ``Response`` must be
  /// ``DownloadedFile``, and the cache is neither read nor written.
  var download: Download? { get }

  /// Which statuses are success.
  var statusRule: StatusRule { get }
  /// The accepted content types, such as `["application/json", "text/*"]`. Nil accepts the types of the response format
  /// (``ResponseFormat/contentTypes``): all types, unless the format lists some, as XML does.
  var contentTypes: [String]? { get }
  /// The shape that the JSON must have; nil accepts any shape.
  var shape: JSONShape? { get }
  /// The envelope around the value in the body; ``Envelope/none`` if the body is the value itself.
  var envelope: Envelope { get }
  /// Decodes the body into the ``Response``.
  var decoder: ResponseDecoder<Response> { get }
  /// The decoding of JSON.
  var jsonDecoding: JSONDecoding { get }
  /// The encoding of JSON.
  var jsonEncoding: JSONEncoding { get }

  /// The hooks that run before and after completion; nil for none.
  var hooks: CompletionHooks<Response>? { get }
  /// Accessories of this request, in addition to those of the client and the call.
  var accessories: [any Accessory] { get }
  /// The loading indicator that counts this request.
  var indicator: IndicatorChoice { get }

  /// Checks the parameters before anything is built, and throws an error if a parameter is wrong. The thrown error
  /// becomes the cause of an error with the code ``APIError/Code/parameter``.
  func check() throws
  /// A complete HTTP request that is sent instead of one built from the properties above; nil to build the request. The
  /// complete request passes through the same pipeline.
  func finishedRequest() throws -> HTTPRequest?
}

extension APIRequest {
  /// By default the method is GET.
  public var method: HTTPMethod { .get }
  /// By default the request goes to the base URL.
  public var server: RequestServer { .base }
  /// By default a request has no family.
  public var family: RequestFamily? { nil }
  /// By default a request has no arguments.
  public var arguments: Arguments { Arguments() }
  /// By default the format is inherited from the family or the client.
  public var argumentFormat: ArgumentFormat { .inherited }
  /// By default the style is inherited from the family or the client.
  public var argumentStyle: ArgumentStyle { .inherited }
  /// By default a request has no body of its own.
  public var body: RequestBody? { nil }
  /// By default no field is set or removed.
  public var headers: RequestHeaders { RequestHeaders() }
  /// By default the client's provider supplies the credential.
  public var credential: RequestCredential { .inherited }
  /// By default the client's rule for cookies applies.
  public var cookies: CookieUse { .inherited }
  /// By default the time-outs are inherited from the family or the client.
  public var timeouts: Timeouts { .inherited }
  /// By default the priority is normal.
  public var priority: CallPriority { .normal }
  /// By default any network may be used.
  public var network: NetworkWish { NetworkWish() }
  /// By default the rule is inherited from the family or the client.
  public var redirects: RedirectPolicy { .inherited }
  /// By default the rule is inherited from the family or the client.
  public var retries: RetryPolicy { .inherited }
  /// By default the method decides.
  public var idempotency: Idempotency { .byMethod }
  /// By default the policy is inherited from the family or the client.
  public var cache: CachePolicy { .inherited }
  /// By default the key contains everything that is sent, except the header fields.
  public var cacheKey: CacheKeyRule { CacheKeyRule() }
  /// By default the response is stored under this request.
  public var cachedAs: (any APIRequest)? { nil }
  /// By default the rule is inherited from the family or the client.
  public var joining: JoinRule { .inherited }
  /// By default all calls run.
  public var repeats: RepeatRule { .runAll }
  /// By default the response body is kept in memory.
  public var download: Download? { nil }
  /// By default the rule is inherited from the family or the client.
  public var statusRule: StatusRule { .inherited }
  /// By default the content types of the response format are accepted.
  public var contentTypes: [String]? { nil }
  /// By default the JSON may have any shape.
  public var shape: JSONShape? { nil }
  /// By default the envelope is inherited from the family or the client.
  public var envelope: Envelope { .inherited }
  /// By default the rules are inherited from the family or the client.
  public var jsonDecoding: JSONDecoding { .inherited }
  /// By default the rules are inherited from the family or the client.
  public var jsonEncoding: JSONEncoding { .inherited }
  /// By default a request has no hooks.
  public var hooks: CompletionHooks<Response>? { nil }
  /// By default a request has no accessories of its own.
  public var accessories: [any Accessory] { [] }
  /// By default the client's indicators without a name count the request.
  public var indicator: IndicatorChoice { .inherited }
  /// Accepts every parameter.
  public func check() throws {}
  /// By default the request is built from its properties.
  public func finishedRequest() throws -> HTTPRequest? { nil }
}

extension APIRequest where Response: Decodable {
  /// By default the decoder that fits the response type.
  public var decoder: ResponseDecoder<Response> { .automatic }
}

/// The server to which a request goes, chosen among the servers of the client.
public enum RequestServer: Sendable, Hashable {
  /// The base URL of the family or the client.
  case base
  /// The URL of the CDN (content delivery network), or the base URL if no CDN is set.
  case cdn
  /// The base URL of a named environment of the client.
  case environment(String)
}

/// The place of a request's arguments.
public enum ArgumentFormat: Sendable, Hashable {
  /// The format of the family or the client; ``byMethod`` if neither declares one.
  case inherited
  /// The arguments go into the query for GET, HEAD and DELETE, and into a form body for other methods. If the request
  /// has its own body, they always go into the query.
  case byMethod
  /// The arguments go into the query for GET, HEAD and DELETE, and into a JSON body for other methods. If the request
  /// has its own body, they always go into the query. Use this format for a service that takes JSON.
  case jsonByMethod
  /// The arguments go into the query, for any method.
  case query
  /// The arguments go into a body of type `application/x-www-form-urlencoded`, for any method.
  case form
  /// The arguments go into a body of type `application/json`, for any method.
  case json

  /// Returns this format, or `other` if this format is inherited.
  func filled(by other: ArgumentFormat?) -> ArgumentFormat { self == .inherited ? other ?? self : self }
}

/// The source of a request's credential.
public enum RequestCredential: Sendable, Hashable {
  /// The client's provider supplies the credential. It is sent only to origins that the provider allows
  /// (``CredentialProvider/belongs(to:base:)``).
  case inherited
  /// The request is sent without a credential.
  case none
  /// The request has its own credential, which is sent only to the origin of the request's URL.
  case own(Credential)

  /// The request's own user name and password.
  public static func basic(user: String, password: String) -> RequestCredential {
    .own(.basic(user: user, password: password))
  }

  /// The request's own token.
  public static func bearer(_ token: String) -> RequestCredential { .own(.bearer(token)) }
}

/// The loading indicator that counts a request.
public enum IndicatorChoice: Sendable, Hashable {
  /// The client's indicators that have no name.
  case inherited
  /// No indicator counts the request.
  case none
  /// The indicator with this name.
  case named(String)
}
