public import Foundation

/// One API call as a value. The request describes the call, and an ``APIClient`` carries it out.
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
/// Every member except the path has a default. A request may belong to a ``RequestFamily``, which contains the settings
/// of a group of requests. If a setting has the value `.inherited`, the setting of the family or of the client applies.
/// The order of precedence is the same for all settings: the options of the call, the request, its family, the client.
/// If the default isolation of your app is the main actor, declare your own protocol that refines `APIRequest`, and
/// mark your protocol and its extensions as `nonisolated`.
///
/// A request should be a struct. If a class conforms to this protocol, a subclass can override only members that the
/// class itself implements. Other members of the subclass are not read, because Swift selects the defaults for the
/// class that declares the conformance.
///
/// Each property is read at most once per call, with two exceptions: a stream reads ``formats`` and ``family`` twice,
/// and if a call fails, some properties are read again to mask secrets in the error. Delivery, decoder, family,
/// time-outs, priority, ``overlap``, ``download`` and ``formats`` are read on the thread that starts the call. The other
/// properties are read on the executor that runs the call: for `send`, `response` and `outcome` the caller's executor,
/// for `start` the global executor. In a debug build, warnings about the declaration of a type may read some properties
/// once more.
public protocol APIRequest<Response>: GroupStep {
  /// The value of a successful call: any `Decodable` type from JSON, `Data`, `String`, `JSONValue` or ``Nothing``.
  associatedtype Response: Sendable = Data
  /// The type that the body of a rejected response is decoded as; see ``APIError/body(as:)``. By default the body is
  /// not decoded. For servers that send `application/problem+json` (RFC 9457) it is ``ProblemDetails``. If the type
  /// conforms to `LocalizedError`, its `errorDescription` is the error's ``APIError/serverMessage``.
  associatedtype ErrorBody: Decodable & Sendable = Nothing
  /// The type of a path. It has this short name for use inside requests.
  typealias Path = RequestPath

  /// The path below the base URL of the server, or an absolute URL.
  var path: Path { get }
  /// The HTTP method; GET by default.
  var method: HTTPMethod { get }
  /// The server that receives the request: the base URL, the CDN (content delivery network) or a named environment.
  var server: RequestServer { get }
  /// The group of requests whose shared settings apply to this request, such as all requests of one service; nil for
  /// none.
  var family: RequestFamily? { get }

  /// The arguments of the request. They are sent in the query, in a form or as JSON.
  var arguments: Arguments { get }
  /// How arguments become text, and how responses are read.
  var formats: Formats { get }
  /// The body of the request; nil for none. If a request has a body, the arguments of the request go into the query.
  var body: RequestBody? { get }
  /// Header fields that this request sets or removes.
  var headers: RequestHeaders { get }
  /// The source of the credential; by default the ``CredentialProvider`` of the client.
  var credential: RequestCredential { get }
  /// Whether the request sends cookies from the client's cookie jar and stores cookies of its response in the jar.
  var cookies: CookieUse { get }

  /// The time-outs of the request. For each time-out that is nil, the time-out of the ``RequestFamily`` or the client
  /// applies.
  var timeouts: Timeouts { get }
  /// The priority with which the call waits in the client's queue, if the limits on concurrent exchanges are reached.
  var priority: CallPriority { get }
  /// The networks that the call should use, for example only networks that are not cellular. The value is a preference,
  /// which applies only if the transport can distinguish networks.
  var network: NetworkWish { get }
  /// The rule for redirects: the call follows them, returns them as a response, or fails.
  var redirects: RedirectPolicy { get }

  /// The rule by which failed exchanges are tried again. ``RetryPolicy/none`` means one attempt.
  var retries: RetryPolicy { get }
  /// Whether sending the request twice has the same effect as sending it once. By default, the method decides.
  var idempotency: Idempotency { get }

  /// The cache policy, the parts of the request from which the cache key is made (``CachePolicy/keyed(by:)``), and the
  /// requests under whose cache keys the response is stored (``CachePolicy/stored(as:)``).
  var cache: CachePolicy { get }

  /// What happens while equal calls, or calls with this request type and the same owner, are running.
  var overlap: Overlap { get }

  /// The file that receives the response body; nil to keep the body in memory. If there is a file, ``Response`` must be
  /// ``DownloadedFile``, and the cache is neither read nor written.
  var download: Download? { get }

  /// What a response must fulfil: status codes, content types, JSON shape, envelope, size.
  var validation: ResponseValidation { get }
  /// Decodes the body into the ``Response``.
  var decoder: ResponseDecoder<Response> { get }

  /// Who is notified of the calls of the request, in addition to the caller: hooks, accessories, a loading indicator.
  var delivery: Delivery<Response> { get }

  /// Checks the parameters before anything is built, and throws an error if a parameter is wrong. If the function
  /// throws, the call fails, and the thrown error is the cause of an error with the code ``APIError/Code/parameter``.
  func check() throws
  /// Returns a complete HTTP request that is sent instead of a request that is built from the properties; nil to build
  /// the request from the properties. The complete request passes through the same pipeline as other requests.
  func finishedRequest() throws -> HTTPRequest?
}

extension APIRequest {
  /// By default, the method is GET.
  public var method: HTTPMethod { .get }
  /// By default, the request goes to the base URL.
  public var server: RequestServer { .base }
  /// By default, a request belongs to no family.
  public var family: RequestFamily? { nil }
  /// By default, a request has no arguments.
  public var arguments: Arguments { Arguments() }
  /// By default, all formats are inherited from the ``RequestFamily`` or the client.
  public var formats: Formats { .inherited }
  /// By default, a request has no body, unless a body is made from its arguments.
  public var body: RequestBody? { nil }
  /// By default, no header field is set or removed.
  public var headers: RequestHeaders { RequestHeaders() }
  /// By default, the ``CredentialProvider`` of the client supplies the credential.
  public var credential: RequestCredential { .inherited }
  /// By default, the client's rule for cookies applies.
  public var cookies: CookieUse { .inherited }
  /// By default, the time-outs are inherited from the ``RequestFamily`` or the client.
  public var timeouts: Timeouts { .inherited }
  /// By default, the priority is normal.
  public var priority: CallPriority { .normal }
  /// By default, any network may be used.
  public var network: NetworkWish { NetworkWish() }
  /// By default, the rule for redirects is inherited from the ``RequestFamily`` or the client.
  public var redirects: RedirectPolicy { .inherited }
  /// By default, the rule for retries is inherited from the ``RequestFamily`` or the client.
  public var retries: RetryPolicy { .inherited }
  /// By default, the HTTP method decides whether the request is idempotent.
  public var idempotency: Idempotency { .byMethod }
  /// By default, the cache policy is inherited from the ``RequestFamily`` or the client. The cache key contains
  /// everything that is sent, except the header fields.
  public var cache: CachePolicy { .inherited }
  /// By default, the rule for shared exchanges is inherited from the ``RequestFamily`` or the client, and all calls run.
  public var overlap: Overlap { .inherited }
  /// By default, the response body is kept in memory.
  public var download: Download? { nil }
  /// By default, the validation is inherited from the ``RequestFamily`` or the client.
  public var validation: ResponseValidation { .inherited }
  /// By default, a request has no hooks and no accessories of its own.
  public var delivery: Delivery<Response> { Delivery() }
  /// By default, every parameter is accepted.
  public func check() throws {}
  /// By default, the HTTP request is built from the properties of this request.
  public func finishedRequest() throws -> HTTPRequest? { nil }
}

extension APIRequest where Response: Decodable {
  /// By default, ``ResponseDecoder/automatic`` supplies the decoder that fits the response type.
  public var decoder: ResponseDecoder<Response> { .automatic }
}

extension APIRequest {
  /// Not available. A request without a decoder gets this property, so that the compiler names the cure.
  @available(
    *, unavailable,
    message:
      "make the `Response` `Decodable` (if it is, mark it `nonisolated`), or declare a `decoder`; or use `Nothing`"
  )
  public var decoder: ResponseDecoder<Response> {
    ResponseDecoder("nothing", accept: "*/*") { _, _ in throw APIError.build(.unsupported, "No decoder is declared.") }
  }
}

/// The server to which a request goes, chosen among the servers of the client.
public enum RequestServer: Sendable, Hashable {
  /// The base URL of the request's ``RequestFamily``, or of the client if the family has none.
  case base
  /// The URL of the CDN (content delivery network), or the base URL if no CDN is set.
  case cdn
  /// The base URL of the client's ``ServerEnvironment`` with this name.
  case environment(String)
}

/// The source of a request's credential.
public enum RequestCredential: Sendable, Hashable {
  /// The client's ``CredentialProvider`` supplies the credential. The credential is sent only to origins that the
  /// provider allows (``CredentialProvider/belongs(to:base:)``).
  case inherited
  /// The request is sent without a credential.
  case none
  /// The request has its own credential, which is sent only to the origin of the request's URL.
  case own(Credential)

  /// Makes the request's own credential from a user name and a password.
  public static func basic(user: String, password: String) -> RequestCredential {
    .own(.basic(user: user, password: password))
  }

  /// Makes the request's own credential from a token.
  public static func bearer(_ token: String) -> RequestCredential { .own(.bearer(token)) }
}
