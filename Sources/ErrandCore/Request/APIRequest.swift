public import ErrandJSON
public import Foundation

/// One API call as a value: it says what it asks for, and an ``APIClient`` carries it out.
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
/// Everything but the path has a default. Precedence is the same everywhere: the call's options beat the request, the
/// request its family, the family the client. In an app whose default isolation is the main actor, a protocol that
/// refines this one and its extensions are declared `nonisolated`.
///
/// A request is best a struct. A default is chosen where the conformance is declared: of a class that conforms, a
/// subclass can override what that class implements itself, and whatever else the subclass declares is not read.
///
/// Each property is read at most once per call; ``indicator`` alone is read by each ``LoadingIndicator`` as the call
/// starts, and where a call fails, some are read again to mask secrets. Hooks, decoder, family, time-outs, priority,
/// accessories, ``repeats``, ``download`` and ``jsonDecoding`` are read where the call is started. The rest is read
/// where it works: for `send`, `response` and `outcome` on the caller's executor, for `start` on the global one.
public protocol APIRequest<Response>: GroupStep {
  /// What a successful call gives: any `Decodable` type from JSON, `Data`, `String`, `JSONValue` or ``Nothing``.
  associatedtype Response: Sendable = Data
  /// What the body of a refused answer is read as; see ``APIError/body(as:)``.
  associatedtype ErrorBody: Decodable & Sendable = Data
  /// The type of a path; a name for use inside requests.
  typealias Path = RequestPath

  /// The path below the server's base URL, or an absolute URL.
  var path: Path { get }
  /// The method; GET where nothing is said.
  var method: HTTPMethod { get }
  /// The server: base URL or CDN.
  var server: RequestServer { get }
  /// The family whose settings the request shares.
  var family: RequestFamily? { get }

  /// The arguments, for the query, a form or JSON.
  var arguments: Arguments { get }
  /// Where the arguments go.
  var argumentFormat: ArgumentFormat { get }
  /// How the arguments are written; nil for the family's or client's style.
  var argumentStyle: ArgumentStyle? { get }
  /// A body in place of the arguments, which then go into the query.
  var body: RequestBody? { get }
  /// What the request says about header fields.
  var headers: RequestHeaders { get }
  /// The credential; the client's provider where nothing is said.
  var credential: RequestCredential { get }
  /// Whether the request takes part in the client's cookies.
  var cookies: CookieUse { get }

  /// The time-outs; nil parts are left to the family and the client.
  var timeouts: Timeouts? { get }
  /// The priority in the queue of the client.
  var priority: CallPriority { get }
  /// Which networks the call may use: a wish, kept where the transport can tell networks apart.
  var network: NetworkWish { get }
  /// How redirects are followed; nil for the client's policy.
  var redirects: RedirectPolicy? { get }

  /// Whether and how the call is tried again; nil for the family's or client's policy.
  var retries: RetryPolicy? { get }
  /// Whether sending the request twice does no more than sending it once; by its method where nothing is said.
  var idempotency: Idempotency { get }

  /// Whether and how answers are kept; the family's or the client's rules where nothing is said.
  var cache: CachePolicy { get }
  /// What belongs to the key of a stored answer, and what does not.
  var cacheKey: CacheKeyRule { get }
  /// The request that the answer is stored under, in place of this one; nil for this one.
  var cachedAs: (any APIRequest)? { get }

  /// Whether the call may share one exchange with equal calls that are under way; the client's rule where nothing is
  /// said.
  var joining: JoinRule { get }
  /// What happens where a call of this type and owner is started while another one is under way. Read where the call
  /// is started.
  var repeats: RepeatRule { get }

  /// The file that the answer goes into, in place of memory; nil for memory. ``Response`` is ``DownloadedFile`` then,
  /// and the cache is neither read nor written.
  var download: Download? { get }

  /// Which statuses are success; nil for the family's or client's rule.
  var statusRule: StatusRule? { get }
  /// Which content types are taken, such as `["application/json", "text/*"]`; nil for those of the format that is read
  /// (``ResponseFormat/contentTypes``), which are all but for XML.
  var contentTypes: [String]? { get }
  /// The shape the JSON must have; nil for any.
  var shape: JSONShape? { get }
  /// What stands round the value; nil for the family's or client's envelope.
  var envelope: Envelope? { get }
  /// Turns the answer into the response.
  var decoder: ResponseDecoder<Response> { get }
  /// How JSON is read; nil for the client's rules.
  var jsonDecoding: JSONDecoding? { get }
  /// How JSON is written; nil for the client's rules.
  var jsonEncoding: JSONEncoding? { get }

  /// Hooks before and after completion.
  var hooks: CompletionHooks<Response>? { get }
  /// Accessories of this request, beside those of the client and the call.
  var accessories: [any Accessory] { get }
  /// Which loading indicator counts this request.
  var indicator: IndicatorChoice { get }

  /// Refuses wrong parameters before anything is built; what it throws becomes the cause of an error with the code
  /// ``APIError/Code/parameter``.
  func check() throws
  /// A finished request in place of the parts above; nil to build it of them. It goes down the same line.
  func finishedRequest() throws -> HTTPRequest?
}

extension APIRequest {
  /// Sends the request as a member of a group.
  public func run(in group: GroupScope) async throws(APIError) -> Response { try await group.send(self) }
  /// GET.
  public var method: HTTPMethod { .get }
  /// The base URL.
  public var server: RequestServer { .base }
  /// None.
  public var family: RequestFamily? { nil }
  /// None.
  public var arguments: Arguments { Arguments() }
  /// By the method.
  public var argumentFormat: ArgumentFormat { .byMethod }
  /// The family's or client's.
  public var argumentStyle: ArgumentStyle? { nil }
  /// None.
  public var body: RequestBody? { nil }
  /// Nothing is said.
  public var headers: RequestHeaders { RequestHeaders() }
  /// The client's.
  public var credential: RequestCredential { .inherited }
  /// As the client says.
  public var cookies: CookieUse { .inherited }
  /// The family's or client's.
  public var timeouts: Timeouts? { nil }
  /// Normal.
  public var priority: CallPriority { .normal }
  /// Any network.
  public var network: NetworkWish { NetworkWish() }
  /// The client's.
  public var redirects: RedirectPolicy? { nil }
  /// The family's or client's.
  public var retries: RetryPolicy? { nil }
  /// By the method.
  public var idempotency: Idempotency { .byMethod }
  /// The family's or client's.
  public var cache: CachePolicy { .inherited }
  /// All that is sent, but for the headers.
  public var cacheKey: CacheKeyRule { CacheKeyRule() }
  /// This one.
  public var cachedAs: (any APIRequest)? { nil }
  /// The client's.
  public var joining: JoinRule { .inherited }
  /// All of them run.
  public var repeats: RepeatRule { .runAll }
  /// Memory.
  public var download: Download? { nil }
  /// The family's or client's.
  public var statusRule: StatusRule? { nil }
  /// Those of the format.
  public var contentTypes: [String]? { nil }
  /// Any.
  public var shape: JSONShape? { nil }
  /// The family's or client's.
  public var envelope: Envelope? { nil }
  /// The client's.
  public var jsonDecoding: JSONDecoding? { nil }
  /// The client's.
  public var jsonEncoding: JSONEncoding? { nil }
  /// None.
  public var hooks: CompletionHooks<Response>? { nil }
  /// None.
  public var accessories: [any Accessory] { [] }
  /// The client's.
  public var indicator: IndicatorChoice { .inherited }
  /// Every parameter is right.
  public func check() throws {}
  /// None: the request is built of its parts.
  public func finishedRequest() throws -> HTTPRequest? { nil }
}

extension APIRequest where Response: Decodable {
  /// The decoder that fits the response type.
  public var decoder: ResponseDecoder<Response> { .automatic }
}

/// Which of a client's servers a request goes to.
public enum RequestServer: Sendable, Hashable {
  /// The base URL of the family or the client.
  case base
  /// The CDN's URL, or the base URL where none is set.
  case cdn
  /// The base URL of a named environment of the client.
  case environment(String)
}

/// Where the arguments of a request go.
public enum ArgumentFormat: Sendable, Hashable {
  /// Into the query for GET, HEAD and DELETE, into a form body for the rest. Where the request has a body of its own,
  /// into the query.
  case byMethod
  /// Into the query.
  case query
  /// Into a body of type `application/x-www-form-urlencoded`, for any method.
  case form
  /// Into a body of type `application/json`, for any method.
  case json
}

/// Where a request's credential comes from.
public enum RequestCredential: Sendable, Hashable {
  /// From the client's provider, for the origins it names.
  case inherited
  /// From nowhere.
  case none
  /// From the request itself, for the origin it is sent to.
  case own(Credential)

  /// A name and a password of the request's own.
  public static func basic(user: String, password: String) -> RequestCredential {
    .own(.basic(user: user, password: password))
  }

  /// A token of the request's own.
  public static func bearer(_ token: String) -> RequestCredential { .own(.bearer(token)) }
}
