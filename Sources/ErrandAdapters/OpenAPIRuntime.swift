#if OpenAPIRuntime
  public import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  public import Foundation
  public import HTTPTypes
  public import OpenAPIRuntime

  /// Sends the operations of a client that swift-openapi-generator wrote through an ``ErrandCore/APIClient``, so that they
  /// have its retries, accounts, cache, limits and record.
  ///
  /// ```swift
  /// let client = Client(serverURL: try Servers.Server1.url(), transport: ErrandTransport(client: errand))
  /// ```
  ///
  /// Bodies are streamed in both directions. A response is returned whatever its status is. The identifier of the
  /// operation is the tag of its call, also in the flight record.
  public struct ErrandTransport: ClientTransport {
    private let client: APIClient
    private let cache: CachePolicy
    private let options: CallOptions

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - client: The client that sends the requests. Its secrets go only to the servers that its configuration names.
    ///   - cache: The cache policy of operations with a safe method; by default that of the client. A response that the
    ///     cache may serve is kept in memory and not streamed.
    ///   - options: The options of each call. If they have no tag, the tag is the identifier of the operation.
    public init(client: APIClient, cache: CachePolicy = .inherited, options: CallOptions = CallOptions()) {
      self.client = client
      self.cache = cache
      self.options = options
    }

    /// Sends one operation. A generated client calls this function.
    ///
    /// - Parameters:
    ///   - request: The method, the path below `baseURL`, and the fields. `Content-Length` and `Transfer-Encoding` are
    ///     made from the body instead.
    ///   - body: The body. It is sent again by a retry or a redirect only if it can be iterated several times.
    ///   - baseURL: The URL of the server. If it has no host, such as `/`, it is a path below the client's base URL.
    ///   - operationID: The identifier of the operation.
    /// - Returns: The response as soon as its head has arrived, or after its end if it has no content. The call is
    ///   cancelled when the loop over the body ends early, or when the body is released.
    /// - Throws: ``ErrandCore/APIError`` if there is no response. The loop over the body throws it, too.
    public func send(
      _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
      let call = try await OpenAPIOperation(request, body, below: baseURL, id: operationID, cache: cache)
      var options = options
      options.tag = options.tag ?? operationID
      let usesCache = mayUseCache(call)
      do {
        if usesCache { return try whole(try await client.answer(to: call, options: options), to: call) }
        let stream = try await client.stream(call, options: options)
        if call.method == .head || stream.status == 204 || Self.length(of: stream.fields) == .known(0) {
          // A generated client does not read such a body, and its release would cancel a call that has not ended yet.
          for try await _ in stream {}
          return (try Self.converted(stream.head), call.method == .head ? nil : OpenAPIRuntime.HTTPBody(Data()))
        }
        let pieces = OpenAPIRuntime.HTTPBody(
          ResponsePieces(stream), length: Self.length(of: stream.fields), iterationBehavior: .single)
        return (try Self.converted(stream.head), pieces)
      } catch let error as APIError {
        guard let rejected = error.rejectedResponse(isStreamed: !usesCache) else { throw error }
        return try whole(rejected, to: call)
      }
    }

    /// Whether a stored response may be served to the operation, or its response may be stored.
    private func mayUseCache(_ call: OpenAPIOperation) -> Bool {
      guard call.method.isSafe, options.bodySink == nil else { return false }
      if options.cache.usesOnlyCache { return true }
      guard cache.isInherited else { return cache.model != nil }
      let configuration = client.configuration
      let isAbsolute = HTTPURL.isAbsolute(call.path.text)
      let url = try? HTTPURL(isAbsolute ? call.path.text : configuration.servers.current.baseURL)
      let rule = configuration.cache.rules.first { url.map(\.host).map($0.covers) ?? true }
      return (rule?.policy ?? configuration.cache.policy).model != nil
    }

    private func whole(
      _ response: ErrandHTTP.HTTPResponse, to call: OpenAPIOperation
    ) throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
      (try Self.converted(response.head), call.method == .head ? nil : OpenAPIRuntime.HTTPBody(response.body))
    }

    private static func converted(_ head: ResponseHead) throws(APIError) -> HTTPTypes.HTTPResponse {
      do {
        return try HTTPTypes.HTTPResponse(head)
      } catch {
        throw APIError(.validate, .invalidHeader, "The response is no HTTPResponse: \(error)", cause: error)
      }
    }

    /// The length of a streamed body, if the server declared it and the body has no content coding.
    private static func length(of fields: ErrandHTTP.HTTPFields) -> OpenAPIRuntime.HTTPBody.Length {
      guard !fields.contains(.contentEncoding), let text = fields[.contentLength], let count = Int64(text), count >= 0
      else { return .unknown }
      return .known(count)
    }
  }

  // MARK: - The request

  /// The call of an operation. Every status outside 200 to 299 is rejected, so that it is retried and its body is kept
  /// in memory; the transport returns it nevertheless.
  private struct OpenAPIOperation: APIRequest {
    typealias Response = Data

    let method: HTTPMethod
    let path: RequestPath
    let headers: RequestHeaders
    let body: RequestBody?
    let cache: CachePolicy

    var validation: ResponseValidation { ResponseValidation(status: .success, envelope: .none) }
    // All operations have this type, so that a rule for repeated calls of one type cannot apply to them.
    var overlap: Overlap { Overlap(repeats: .runAll) }

    init(
      _ request: HTTPTypes.HTTPRequest, _ body: OpenAPIRuntime.HTTPBody?, below base: URL, id: String,
      cache: CachePolicy
    ) async throws {
      method = HTTPMethod(request.method.rawValue)
      path = Self.path(base, request.path ?? "")
      var headers = try Self.headers(request.headerFields, id)
      if let body {
        // A body of Errand has a media type. This entry removes it if the generated client sets none.
        if request.headerFields[.contentType] == nil { headers.set(.contentType, nil) }
        self.body = try await Self.body(body, id)
      } else {
        self.body = nil
      }
      self.headers = headers
      self.cache = cache.isInherited || method.isSafe ? cache : .none
    }

    /// Joins the base URL, without its query, and the path of an operation by one slash.
    private static func path(_ base: URL, _ path: String) -> RequestPath {
      var text = base.absoluteString.utf8.prefix { $0 != 0x3F && $0 != 0x23 }
      if text.last == 0x2F { text.removeLast() }
      return RequestPath(String(Substring(text)) + path)
    }

    private static func headers(_ fields: HTTPTypes.HTTPFields, _ id: String) throws(APIError) -> RequestHeaders {
      var headers = RequestHeaders()
      do {
        for field in try ErrandHTTP.HTTPFields(fields).all {
          if field.name == .contentLength || field.name == "Transfer-Encoding" { continue }
          let value: RequestHeaders.FieldValue = field.isSecret ? .secret(field.value) : .text(field.value)
          headers.add(field.name, value)
        }
      } catch {
        throw APIError(.build, .invalidHeader, "The operation \(id) cannot be sent: \(error)", cause: error)
      }
      return headers
    }

    /// The largest body that is read into memory before it is sent, if its length is known and it can be read again. So
    /// the cache, the flight record and a digest see it.
    private static let mostCollected: Int64 = 64 << 10

    private static func body(_ body: OpenAPIRuntime.HTTPBody, _ id: String) async throws -> RequestBody {
      let length: Int64? = if case .known(let count) = body.length, count >= 0 { count } else { nil }
      let isReplayable = body.iterationBehavior == .multiple
      if isReplayable, let length, length <= mostCollected, let data = try await collected(body, length, id) {
        return .bytes(data)
      }
      return .stream(length: length, isReplayable: isReplayable) { flow in
        try ErrandHTTP.HTTPBody.pieces(body).open(flow)
      }
    }

    /// Reads a small body. Returns nil if it does not have the declared length: then its stream fails the call.
    private static func collected(_ body: OpenAPIRuntime.HTTPBody, _ length: Int64, _ id: String) async throws -> Data?
    {
      var data = Data()
      do {
        for try await piece in body {
          data.append(contentsOf: piece)
          if data.count > length { return nil }
        }
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        throw APIError(.build, .invalidBody, "The body of the operation \(id) cannot be read: \(error)", cause: error)
      }
      return data.count == length ? data : nil
    }
  }

  // MARK: - The response

  extension APIError {
    /// The longest body of a rejected response that a stream keeps in memory.
    private static let mostKept = 1 << 20

    /// The response that was rejected only because of its status; nil for any other error, and if only the beginning of
    /// its body is known.
    fileprivate func rejectedResponse(isStreamed: Bool) -> ErrandHTTP.HTTPResponse? {
      guard stage == .validate, code == .status, let response, !response.isCut else { return nil }
      return isStreamed && response.body.count >= Self.mostKept ? nil : response
    }
  }

  /// The pieces of a streamed response. The one iterator owns the stream, so that the call is cancelled when the loop
  /// ends early, also while the body still exists.
  private struct ResponsePieces: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>
    typealias Failure = APIError

    private final class Owner: Sendable {
      let stream: Locked<ResponseStream?>

      init(_ stream: ResponseStream) { self.stream = Locked(stream) }
    }

    private let owner: Owner

    init(_ stream: ResponseStream) { owner = Owner(stream) }

    func makeAsyncIterator() -> Iterator {
      Iterator(pieces: owner.stream.withLock { $0.take() }?.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
      fileprivate var pieces: ResponseStream.Iterator?

      mutating func next() async throws(APIError) -> ArraySlice<UInt8>? { try await next(isolation: #isolation) }

      mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> ArraySlice<UInt8>? {
        guard let piece = try await pieces?.next(isolation: actor) else { return nil }
        return ArraySlice(piece)
      }
    }
  }
#endif
