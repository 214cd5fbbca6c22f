import ErrandJSON
import Foundation

/// The values of a body of newline-delimited JSON, while they come: one to a line, empty lines left out. For one loop:
/// what it has read ahead goes with it.
public struct ResponseValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  /// The value of a line.
  public typealias Element = Value
  /// What a call throws whose body breaks off, or whose line is no such value.
  public typealias Failure = APIError

  let stream: ResponseStream
  let json: JSONDecoding
  let limit: Int

  /// Reads on from where the stream was left.
  public func makeAsyncIterator() -> Iterator { Iterator(lines: LineReader(stream, limit: limit), json: json) }

  /// Reads the values.
  public struct Iterator: AsyncIteratorProtocol {
    var lines: LineReader
    let json: JSONDecoding

    /// The next value; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> Value? { try await next(isolation: #isolation) }

    /// The next value; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Value? {
      while let line = try await lines.next(isolation: actor) {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
        do {
          return try json.decode(Value.self, from: line)
        } catch {
          let clause = "line \(lines.number) of the answer could not be read as JSON: \(error)"
          throw lines.failure(APIError(.decode, .decoding, APIError.sentence(clause), cause: error))
        }
      }
      return nil
    }
  }
}
