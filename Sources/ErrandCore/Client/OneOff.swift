/// One-off calls: requests that need no type of their own.
///
/// ```swift
/// let user = try await client.get("/users/7", as: User.self)
/// try await client.delete("/users/7")
/// ```
///
/// Each function sends a ``OneOff``. Use that value itself in batches and chains, with closures, or for a response with
/// header fields. Declare a request type for a call that several places send or that needs more settings.
extension APIClient {
  /// Sends a GET request and returns its value.
  ///
  /// - Parameters:
  ///   - path: The path below the base URL, or an absolute URL. Each variable in a literal is escaped.
  ///   - type: The type of the value; without a type, the body of the response is ignored.
  ///   - arguments: The arguments, which go into the query.
  ///   - headers: Header fields to set or to remove.
  ///   - options: The options of the call.
  /// - Throws: ``APIError``.
  @discardableResult
  public func get<Value: Decodable & Sendable>(
    _ path: RequestPath, as type: Value.Type = Nothing.self, arguments: Arguments = Arguments(),
    headers: RequestHeaders = RequestHeaders(), options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await send(OneOff(.get, path, as: type, arguments: arguments, headers: headers), options: options)
  }

  /// Sends a POST request and returns its value. The arguments go into a form or a JSON body, as the client's
  /// ``Formats/arguments`` says; if there is a `body`, they go into the query. The other parameters
  /// are those of ``get(_:as:arguments:headers:options:)``.
  /// - Throws: ``APIError``.
  @discardableResult
  public func post<Value: Decodable & Sendable>(
    _ path: RequestPath, as type: Value.Type = Nothing.self, arguments: Arguments = Arguments(),
    body: RequestBody? = nil, headers: RequestHeaders = RequestHeaders(), options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await send(OneOff(.post, path, as: type, arguments: arguments, body: body, headers: headers), options: options)
  }

  /// Sends a QUERY request (RFC 10008), a read whose arguments or `body` are sent in the request body, and returns its
  /// value; see ``post(_:as:arguments:body:headers:options:)``. With a `body`, the arguments are a part of the URL.
  /// - Throws: ``APIError``.
  @discardableResult
  public func query<Value: Decodable & Sendable>(
    _ path: RequestPath, as type: Value.Type = Nothing.self, arguments: Arguments = Arguments(),
    body: RequestBody? = nil, headers: RequestHeaders = RequestHeaders(), options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await send(OneOff(.query, path, as: type, arguments: arguments, body: body, headers: headers), options: options)
  }

  /// Sends a PUT request and returns its value; see ``post(_:as:arguments:body:headers:options:)``.
  /// - Throws: ``APIError``.
  @discardableResult
  public func put<Value: Decodable & Sendable>(
    _ path: RequestPath, as type: Value.Type = Nothing.self, arguments: Arguments = Arguments(),
    body: RequestBody? = nil, headers: RequestHeaders = RequestHeaders(), options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await send(OneOff(.put, path, as: type, arguments: arguments, body: body, headers: headers), options: options)
  }

  /// Sends a PATCH request and returns its value; see ``post(_:as:arguments:body:headers:options:)``.
  /// - Throws: ``APIError``.
  @discardableResult
  public func patch<Value: Decodable & Sendable>(
    _ path: RequestPath, as type: Value.Type = Nothing.self, arguments: Arguments = Arguments(),
    body: RequestBody? = nil, headers: RequestHeaders = RequestHeaders(), options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await send(OneOff(.patch, path, as: type, arguments: arguments, body: body, headers: headers), options: options)
  }

  /// Sends a DELETE request and returns its value. The arguments go into the query. The other parameters are those of
  /// ``post(_:as:arguments:body:headers:options:)``.
  /// - Throws: ``APIError``.
  @discardableResult
  public func delete<Value: Decodable & Sendable>(
    _ path: RequestPath, as type: Value.Type = Nothing.self, arguments: Arguments = Arguments(),
    body: RequestBody? = nil, headers: RequestHeaders = RequestHeaders(), options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await send(
      OneOff(.delete, path, as: type, arguments: arguments, body: body, headers: headers), options: options)
  }

  /// Sends a HEAD request and returns the response: its status and its header fields, without a body. The other
  /// parameters are those of ``get(_:as:arguments:headers:options:)``.
  /// - Throws: ``APIError``.
  @discardableResult
  public func head(
    _ path: RequestPath, arguments: Arguments = Arguments(), headers: RequestHeaders = RequestHeaders(),
    options: CallOptions = CallOptions()
  ) async throws(APIError) -> APIResponse<Nothing> {
    try await response(OneOff(.head, path, arguments: arguments, headers: headers), options: options)
  }

  /// Sends an OPTIONS request and returns the response. Its field `Allow` lists the methods that the resource supports
  /// (RFC 9110 section 9.3.7). The path `*` cannot be sent.
  /// - Throws: ``APIError``.
  @discardableResult
  public func options<Value: Decodable & Sendable>(
    _ path: RequestPath, as type: Value.Type = Nothing.self, headers: RequestHeaders = RequestHeaders(),
    options: CallOptions = CallOptions()
  ) async throws(APIError) -> APIResponse<Value> {
    try await response(OneOff(.options, path, as: type, headers: headers), options: options)
  }
}

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

extension OneOff: Masked {
  /// The method and the path; the values of the path's query are masked.
  public var description: String { "\(method) \(path)" }
  /// Method, path and header fields with secrets masked, and the names of the arguments.
  package var shownParts: KeyValuePairs<String, Any> {
    ["request": description, "arguments": arguments.names, "headers": headers]
  }
}
