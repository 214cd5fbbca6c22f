public import ErrandJSON
public import Foundation

/// A response whose body is read piece by piece, as it arrives.
///
/// ```swift
/// let export = try await client.stream(GetExport())
/// for try await piece in export { digest.update(piece) }
/// ```
///
/// If the loop is slow, the server must wait, because at most about 256 KiB are buffered for the loop. The body is read
/// once; a second loop continues where the first loop stopped. The call is cancelled when the stream and its iterators
/// are released, when the task that reads is cancelled, and by ``cancel()``.
///
/// A piece has the content coding removed and is never empty. If the body fails in the middle, the loop first gets the
/// pieces that arrived before and then throws an ``APIError``.
public struct ResponseStream: AsyncSequence, Sendable {
  /// The status and the header fields of the response.
  public let head: ResponseHead
  let lease: StreamLease
  let json: JSONDecoding

  /// The status code of the response.
  public var status: Int { head.status }
  /// The header fields of the response, as the server sent them. If they contain `Content-Encoding`, the pieces are
  /// decoded, and `Content-Length` is the length of the coded bytes.
  public var fields: HTTPFields { head.fields }

  /// Cancels the call, so that a loop over the body throws an error of stage ``APIError/Stage/cancelled``. The function
  /// has no effect after the whole body has arrived. Any thread may call this function.
  public func cancel() { lease.call.cancel() }

  /// Makes an iterator that starts at the piece at which the last loop over the stream stopped.
  public func makeAsyncIterator() -> Iterator { Iterator(lease: lease) }

  /// Reads the pieces of the body.
  public struct Iterator: AsyncIteratorProtocol {
    let lease: StreamLease
    /// True if the iterator has thrown an error. Each later call returns nil, as `AsyncIteratorProtocol` requires.
    private var hasFailed = false

    init(lease: StreamLease) { self.lease = lease }

    /// The next piece; nil after the last piece and after an error.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> Data? { try await next(isolation: #isolation) }

    /// The next piece; nil after the last piece and after an error.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Data? {
      while !hasFailed {
        // A loop that is slower than the server never waits, and so would not notice the cancellation of its task.
        if Task.isCancelled { lease.call.cancel() }
        switch lease.sink.next() {
        case .piece(let piece): if !piece.isEmpty { return piece }
        case .end: return nil
        case .failure(let error):
          hasFailed = true
          throw error
        case .wait: await lease.wait(forHead: false, isolation: actor)
        }
      }
      return nil
    }
  }
}

extension APIClient {
  /// Sends a request and returns its response as soon as status and headers have arrived. The body is read later, piece
  /// by piece.
  ///
  /// The request's rules for status and content type apply. If they reject the response, an error that contains the
  /// response body is thrown. The body is not decoded, so the request's completion hooks are not called. The call uses
  /// neither the cache nor a shared exchange. There is no time-out for the whole call unless one is set. The idle
  /// time-out is suspended while the loop is slower than the server.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - options: The options of this call. The stream sets ``CallOptions/bodySink`` itself.
  /// - Throws: ``APIError`` if the call fails before its response starts.
  public func stream<R: APIRequest>(
    _ request: R, options: CallOptions = CallOptions()
  ) async throws(APIError) -> ResponseStream {
    try await stream(request, options: options, onStart: { nil }, onResult: { _ in })
  }

  /// - Parameters:
  ///   - membership: The membership of an event stream in the table of repeated calls; nil for other streams.
  ///   - onStart: Called as soon as the call is one of the running calls. If the result is an error, the call is
  ///     cancelled and the error is thrown.
  ///   - onResult: Called when the work of the call has ended. A cancel then still has an effect, and the loop over the
  ///     body cannot notice the end yet.
  func stream<R: APIRequest>(
    _ request: R, options: CallOptions, membership: RepeatMembership? = nil, onStart: @Sendable () -> APIError?,
    onResult: @escaping @Sendable (CallInfo) -> Void
  ) async throws(APIError) -> ResponseStream {
    let sink = StreamSink()
    var options = options
    options.bodySink = sink
    let json = formats(of: request).jsonDecoding
    let call = launch(TypedCall(request, decodes: false), options, .init(), membership: membership) { info, _ in
      onResult(info)
      return { sink.finish($0.response, $0.error) }
    }
    let lease = StreamLease(call, sink)
    if let error = onStart() { throw error }
    while true {
      if let opened = sink.opened() {
        return ResponseStream(head: try opened.get(), lease: lease, json: json)
      }
      await lease.wait(forHead: true, isolation: #isolation)
    }
  }
}

/// A shared reference to the call of a stream. The call is cancelled when the last reference is released.
final class StreamLease: Sendable {
  let call: Call
  let sink: StreamSink

  init(_ call: Call, _ sink: StreamSink) {
    self.call = call
    self.sink = sink
  }

  deinit { call.cancel() }

  /// Waits for the response headers if `forHead` is true, otherwise for a piece of the body. The wait also ends when
  /// the call has ended. The wait may end too early, so the caller must check what has arrived. If the waiting task is
  /// cancelled, the call is cancelled.
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
  /// The body as lines of text, of at most 1 MiB each. See ``lines(limit:)``.
  public var lines: some AsyncSequence<String, APIError> & Sendable { lines(limit: 1 << 20) }

  /// Returns the body as lines of text, as they arrive.
  ///
  /// The text must be UTF-8. A line ends at a line feed; a carriage return before the line feed is removed. Use only
  /// one loop: if a loop ends early, the data that it has read ahead is lost.
  /// - Parameter limit: The largest size of a line, in bytes. A longer line ends the call with an error of code
  ///   `tooLarge`.
  public func lines(limit: Int) -> some AsyncSequence<String, APIError> & Sendable {
    ResponseLines(stream: self, limit: limit)
  }

  /// Returns the values of a body of newline-delimited JSON, such as `application/x-ndjson`, as they arrive. Each line
  /// contains one value; empty lines are skipped. A line without a value of the type ends the loop with an error. Use
  /// only one loop: if a loop ends early, the data that it has read ahead is lost.
  ///
  /// ```swift
  /// for try await row in try await client.stream(GetExport()).values(of: Row.self) { table.add(row) }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type of the value in each line.
  ///   - json: The decoding rules; by default the rules of the request and the client.
  ///   - limit: The largest size of a line, in bytes. A longer line ends the call with an error of code `tooLarge`.
  public func values<Value: Decodable & Sendable>(
    of type: Value.Type, by json: JSONDecoding = .inherited, limit: Int = 1 << 20
  ) -> some AsyncSequence<Value, APIError> & Sendable {
    ResponseValues(stream: self, json: json.filled(by: self.json), limit: limit)
  }
}

struct ResponseLines: AsyncSequence, Sendable {
  let stream: ResponseStream
  let limit: Int

  func makeAsyncIterator() -> Iterator { Iterator(lines: LineReader(stream, limit: limit)) }

  /// Reads the lines of the response body one after another.
  struct Iterator: AsyncIteratorProtocol {
    var lines: LineReader

    mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> String? {
      guard let line = try await lines.next(isolation: actor) else { return nil }
      if let text = String(validating: line, as: UTF8.self) { return text }
      throw lines.failure(APIError(.decode, .decoding, "Line \(lines.number) of the response is not UTF-8."))
    }
  }
}

/// The values of a body of newline-delimited JSON as they arrive.
struct ResponseValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  let stream: ResponseStream
  let json: JSONDecoding
  let limit: Int

  func makeAsyncIterator() -> Iterator { Iterator(lines: LineReader(stream, limit: limit), json: json) }

  /// Reads the lines of the response body and decodes a value from each line.
  struct Iterator: AsyncIteratorProtocol {
    var lines: LineReader
    let json: JSONDecoding

    mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Value? {
      while let line = try await lines.next(isolation: actor) {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
        do {
          return try json.decode(Value.self, from: line)
        } catch {
          let clause = "line \(lines.number) of the response could not be decoded as JSON: \(error)"
          throw lines.failure(APIError(.decode, .decoding, APIError.sentence(clause), cause: error))
        }
      }
      return nil
    }
  }
}
