/// A request that needs no type of its own: a method, a path, and the type of the response.
///
/// ```swift
/// let (user, news) = try await client.batch(
///   OneOff(.get, "/users/7", as: User.self), OneOff(.get, "/news", as: [Headline].self, arguments: ["page": 2]))
/// ```
///
/// A one-off is sent, started and grouped as any other ``APIRequest``. Everything that this type does not contain is
/// inherited from the client. ``APIClient/get(_:as:arguments:headers:options:)`` and its siblings send a one-off
/// directly.
public struct OneOff<Response: Decodable & Sendable>: APIRequest {
  /// The HTTP method.
  public var method: HTTPMethod
  /// The path below the base URL of the client, or an absolute URL.
  public var path: RequestPath
  /// The arguments of the request.
  public var arguments: Arguments
  /// The body of the request; nil for none. If there is a body, the arguments go into the query.
  public var body: RequestBody?
  /// Header fields to set or to remove.
  public var headers: RequestHeaders
  /// All calls run: requests of this type have nothing in common.
  public var overlap: Overlap { Overlap(repeats: .runAll) }

  /// Makes a request. Without a `type`, the body of the response is ignored.
  public init(
    _ method: HTTPMethod, _ path: RequestPath, as type: Response.Type = Nothing.self,
    arguments: Arguments = Arguments(), body: RequestBody? = nil, headers: RequestHeaders = RequestHeaders()
  ) {
    self.method = method
    self.path = path
    self.arguments = arguments
    self.body = body
    self.headers = headers
  }
}
