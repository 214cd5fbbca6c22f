/// Functions that are not available. The compiler rejects a call of one of them and names the right function.
extension APIClient {
  /// Not available. The type of the value must be named.
  @available(*, unavailable, message: "name the type of the value: `get(path, as: User.self)`")
  @_disfavoredOverload  // a call without a value is a call of the function with the parameter `as`
  public func get<Value: Decodable & Sendable>(
    _ path: RequestPath, arguments: Arguments = Arguments(), headers: RequestHeaders = RequestHeaders(),
    options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await get(path, as: Value.self, arguments: arguments, headers: headers, options: options)
  }

  /// Not available. The type of the value must be named.
  @available(*, unavailable, message: "name the type of the value: `post(path, as: User.self)`")
  @_disfavoredOverload  // as above
  public func post<Value: Decodable & Sendable>(
    _ path: RequestPath, arguments: Arguments = Arguments(), body: RequestBody? = nil,
    headers: RequestHeaders = RequestHeaders(), options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await post(path, as: Value.self, arguments: arguments, body: body, headers: headers, options: options)
  }

  /// Not available. The type of the value must be named.
  @available(*, unavailable, message: "name the type of the value: `put(path, as: User.self)`")
  @_disfavoredOverload  // as above
  public func put<Value: Decodable & Sendable>(
    _ path: RequestPath, arguments: Arguments = Arguments(), body: RequestBody? = nil,
    headers: RequestHeaders = RequestHeaders(), options: CallOptions = CallOptions()
  ) async throws(APIError) -> Value {
    try await put(path, as: Value.self, arguments: arguments, body: body, headers: headers, options: options)
  }

  /// Not available. A request is sent by ``send(_:options:)``.
  @available(*, unavailable, renamed: "send(_:options:)")
  @discardableResult
  public func request<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> R.Response {
    try await send(request, options: options)
  }

  /// Not available. Each method has a function of its own.
  @available(
    *, unavailable, message: "write `get(path, as: User.self)` or `post`, or declare a request type and `send` it"
  )
  @discardableResult
  public func request<Value: Decodable & Sendable>(
    _ path: RequestPath, method: HTTPMethod = .get, as type: Value.Type = Nothing.self,
    arguments: Arguments = Arguments(), headers: RequestHeaders = RequestHeaders()
  ) async throws(APIError) -> Value {
    try await send(OneOff(method, path, as: type, arguments: arguments, headers: headers))
  }
}
