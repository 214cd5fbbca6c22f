public import ErrandJSON

/// The values that a server's events hold as JSON, while they come; the stream is taken up again after a break as its
/// events are.
public struct EventValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  /// The value of an event.
  public typealias Element = Value
  /// What is thrown where the events end in a failure, or where one holds no such value.
  public typealias Failure = APIError

  let events: EventStream
  let json: JSONDecoding?

  /// Begins to listen.
  public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), json: json) }

  /// Listens, and reads the values.
  public struct Iterator: AsyncIteratorProtocol {
    private var events: EventStream.Iterator
    private let json: JSONDecoding?
    private var number = 0

    init(events: EventStream.Iterator, json: JSONDecoding?) {
      self.events = events
      self.json = json
    }

    /// The next value; nil where the server has ended the stream.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> Value? { try await next(isolation: #isolation) }

    /// The next value; nil where the server has ended the stream.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Value? {
      guard let event = try await events.next(isolation: actor) else { return nil }
      number += 1
      do {
        return try event.value(as: Value.self, by: json ?? events.json)
      } catch {
        let clause = "event \(number) of the stream could not be read as JSON: \(error)"
        throw events.failure(APIError(.decode, .decoding, APIError.sentence(clause), cause: error))
      }
    }
  }
}

extension EventStream {
  /// What the events hold, read as JSON.
  ///
  /// ```swift
  /// for try await price in client.events(of: Prices()).values(of: Price.self) { show(price) }
  /// ```
  ///
  /// An event that holds no such value ends the stream, so all of them have to be of one kind, whatever they are called.
  ///
  /// - Parameters:
  ///   - type: What each event holds.
  ///   - json: The rules to read it by; nil for those of the request and the client.
  public func values<Value: Decodable & Sendable>(
    of type: Value.Type, by json: JSONDecoding? = nil
  ) -> EventValues<Value> {
    EventValues(events: self, json: json)
  }
}
