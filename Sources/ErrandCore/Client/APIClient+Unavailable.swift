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

  /// Not available. `send` returns the value, and `start` calls closures.
  @available(
    *, unavailable,
    message: "`send` takes no closure: use `await`, or call `start(_:)` or `start(outcomeOf:)` with closures"
  )
  @_disfavoredOverload  // a call with a reformer is a call of the function with the parameter `as`
  public func send<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions(), _ completion: (Result<R.Response, APIError>) -> Void
  ) {}

  /// Not available. The type of the value belongs to the request.
  @available(
    *, unavailable,
    message: "declare the type of the value as `Response` of the request; a `Reformer` converts the value"
  )
  @_disfavoredOverload  // as above
  @discardableResult
  public func send<R: APIRequest, Value>(
    _ request: R, as type: Value.Type, options: CallOptions = CallOptions()
  ) async throws(APIError) -> R.Response {
    try await send(request, options: options)
  }
}

extension CallSender {
  /// Not available. Requests of different types are a list only by ``batch(mixed:width:options:)``. Without this
  /// function the compiler fails to produce a diagnostic.
  @available(
    *, unavailable, message: "for requests of different types, write `batch(mixed:)`, or `batch(first, second)`"
  )
  @_disfavoredOverload  // a list of requests of one type is a call of the generic function
  @discardableResult
  public func batch(
    _ steps: [any GroupStep], width: Int? = nil, options: GroupOptions = GroupOptions()
  ) async throws(APIError) -> [any Sendable] {
    try await batch(mixed: steps, width: width, options: options)
  }
}

extension Batch {
  /// Not available. Requests of different types are a list only by ``init(mixed:width:)``.
  @available(
    *, unavailable, message: "for requests of different types, write `Batch(mixed:)`, or `Batch(first, second)`"
  )
  @_disfavoredOverload  // as above
  public init(_ steps: [any GroupStep], width: Int? = nil) where Response == [any Sendable] {
    self.init(mixed: steps, width: width)
  }
}
