import Foundation

/// The lines of a response body as they arrive. The text must be UTF-8. A line ends at a line feed; a carriage return
/// before the line feed is removed. Use only one loop: if a loop ends early, the data that it has read ahead is lost.
public struct ResponseLines: AsyncSequence, Sendable {
  /// A line without its line end.
  public typealias Element = String
  /// The error that a loop over the lines throws if the body ends early or is not UTF-8.
  public typealias Failure = APIError

  let stream: ResponseStream
  let limit: Int

  /// Makes an iterator that starts at the current position of the stream.
  public func makeAsyncIterator() -> Iterator { Iterator(lines: LineReader(stream, limit: limit)) }

  /// Reads the lines of the response body one after another.
  public struct Iterator: AsyncIteratorProtocol {
    var lines: LineReader

    /// The next line; nil after the last line.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> String? { try await next(isolation: #isolation) }

    /// The next line; nil after the last line.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> String? {
      guard let line = try await lines.next(isolation: actor) else { return nil }
      if let text = String(validating: line, as: UTF8.self) { return text }
      throw lines.failure(APIError(.decode, .decoding, "Line \(lines.number) of the response is not UTF-8."))
    }
  }
}
