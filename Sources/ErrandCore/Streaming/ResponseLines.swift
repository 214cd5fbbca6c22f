import Foundation

/// The lines of a body, while they come: text in UTF-8 that ends with a line feed, a carriage return before it left out.
/// For one loop: what it has read ahead goes with it.
public struct ResponseLines: AsyncSequence, Sendable {
  /// A line without its end.
  public typealias Element = String
  /// What a call throws whose body breaks off, or is not UTF-8.
  public typealias Failure = APIError

  let stream: ResponseStream
  let limit: Int

  /// Reads on from where the stream was left.
  public func makeAsyncIterator() -> Iterator { Iterator(lines: LineReader(stream, limit: limit)) }

  /// Reads the lines.
  public struct Iterator: AsyncIteratorProtocol {
    var lines: LineReader

    /// The next line; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> String? { try await next(isolation: #isolation) }

    /// The next line; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> String? {
      guard let line = try await lines.next(isolation: actor) else { return nil }
      if let text = String(validating: line, as: UTF8.self) { return text }
      throw lines.failure(APIError(.decode, .decoding, "Line \(lines.number) of the answer is not UTF-8."))
    }
  }
}
