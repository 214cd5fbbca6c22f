import ErrandJSON
import Foundation

/// The values of a body of newline-delimited JSON as they arrive. Each line contains one value; empty lines are
/// skipped. Use only one loop: if a loop ends early, the data that it has read ahead is lost.
public struct ResponseValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  /// The value that was decoded from one line of the body.
  public typealias Element = Value
  /// The error that a loop over the values throws if the body ends early, or if a line does not contain a value of the
  /// type.
  public typealias Failure = APIError

  let stream: ResponseStream
  let json: JSONDecoding
  let limit: Int

  /// Makes an iterator that starts at the current position of the stream.
  public func makeAsyncIterator() -> Iterator { Iterator(lines: LineReader(stream, limit: limit), json: json) }

  /// Reads the lines of the response body and decodes a value from each line.
  public struct Iterator: AsyncIteratorProtocol {
    var lines: LineReader
    let json: JSONDecoding

    /// The next value; nil after the last value.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> Value? { try await next(isolation: #isolation) }

    /// The next value; nil after the last value.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Value? {
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
