public import ErrandJSON
public import Foundation

/// An answer whose body is read while it comes, piece by piece.
///
/// ```swift
/// let export = try await client.stream(GetExport())
/// for try await piece in export { digest.update(piece) }
/// ```
///
/// Whoever reads slowly slows the server down: about 256 KiB wait for the loop, no more. The body is read once; a
/// second loop goes on where the first one stopped. The call is cancelled when the stream and its iterators are let go
/// of, when the task that reads is cancelled, and by ``cancel()``.
///
/// What fails in the middle is thrown by the loop, behind the pieces that came before it.
public struct ResponseStream: AsyncSequence, Sendable {
  /// A piece as it came, its content coding undone; never empty.
  public typealias Element = Data
  /// What a call throws whose body breaks off.
  public typealias Failure = APIError

  /// Status and header fields.
  public let head: ResponseHead
  let lease: StreamLease
  let json: JSONDecoding

  /// The status code.
  public var status: Int { head.status }
  /// The header fields.
  public var fields: HTTPFields { head.fields }

  /// Cancels the call: the loop throws an error of stage ``APIError/Stage/cancelled``. No effect once the body has come
  /// whole. Any thread.
  public func cancel() { lease.call.cancel() }

  /// Reads from where the last loop stopped.
  public func makeAsyncIterator() -> Iterator { Iterator(lease: lease) }

  /// Reads the pieces.
  public struct Iterator: AsyncIteratorProtocol {
    let lease: StreamLease

    /// The next piece; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> Data? { try await next(isolation: #isolation) }

    /// The next piece; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Data? {
      while true {
        switch lease.sink.next() {
        case .piece(let piece): if !piece.isEmpty { return piece }
        case .end: return nil
        case .failure(let error): throw error
        case .wait: await lease.wait(forHead: false, isolation: actor)
        }
      }
    }
  }
}

extension APIClient {
  /// Sends a request and returns its answer once the head is there; the body is read while it comes.
  ///
  /// The request's rules for status and content type hold: an answer they refuse is thrown, its body in the error. No
  /// value is made of the body, so that the request's completion hooks hear nothing; the cache and other calls are left
  /// out. There is no time-out for the whole call unless one is set; the idle time-out does not count while the loop is
  /// slower than the server.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - options: What is chosen for this call; its sink is the stream.
  /// - Throws: ``APIError`` of a call that fails before its answer begins.
  public func stream<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> ResponseStream {
    let sink = StreamSink()
    var options = options
    options.bodySink = sink
    let json = request.jsonDecoding ?? configuration.jsonDecoding
    let call = launch(TypedCall(request, decodes: false), options, executor: .inPlace, onProgress: nil) { _, _ in
      { sink.finish($0.response, $0.error) }
    }
    let lease = StreamLease(call, sink)
    while true {
      if let opened = sink.opened() {
        return ResponseStream(head: try opened.get(), lease: lease, json: json)
      }
      await lease.wait(forHead: true, isolation: #isolation)
    }
  }
}

/// Whoever holds it wants the body; the call is cancelled when nobody does.
final class StreamLease: Sendable {
  let call: Call
  let sink: StreamSink

  init(_ call: Call, _ sink: StreamSink) {
    self.call = call
    self.sink = sink
  }

  deinit { call.cancel() }

  /// Waits for something new; the cancellation of the task cancels the call, which is told by the sink.
  func wait(forHead: Bool, isolation: isolated (any Actor)?) async {
    await withTaskCancellationHandler(
      operation: {
        _ = isolation
        await sink.wait(forHead: forHead)
      },
      onCancel: { call.cancel() }, isolation: isolation)
  }
}

extension ResponseStream {
  /// How many bytes a line may have where nothing is said.
  public static var lineLimit: Int { 1 << 20 }

  /// The body as lines of text.
  public var lines: ResponseLines { lines(limit: Self.lineLimit) }

  /// The body as lines of text.
  /// - Parameter limit: How many bytes a line may have; a longer one ends the call with an error of code `tooLarge`.
  public func lines(limit: Int) -> ResponseLines { ResponseLines(stream: self, limit: limit) }

  /// The body as newline-delimited JSON, such as `application/x-ndjson`.
  ///
  /// ```swift
  /// for try await row in try await client.stream(GetExport()).values(of: Row.self) { table.add(row) }
  /// ```
  ///
  /// - Parameters:
  ///   - type: What each line is.
  ///   - json: The rules to read it by; nil for those of the request and the client.
  ///   - limit: How many bytes a line may have; a longer one ends the call with an error of code `tooLarge`.
  public func values<Value: Decodable & Sendable>(
    of type: Value.Type, by json: JSONDecoding? = nil, limit: Int = ResponseStream.lineLimit
  ) -> ResponseValues<Value> {
    ResponseValues(stream: self, json: json ?? self.json, limit: limit)
  }
}
