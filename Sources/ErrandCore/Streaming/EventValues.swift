public import ErrandJSON

/// The values in a server's events, decoded from JSON as the events arrive. If the connection is lost, the stream
/// reconnects as ``EventStream`` does.
public struct EventValues<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  /// The value that was decoded from the data of an event.
  public typealias Element = Value
  /// The error that a loop over the values throws if the stream of events fails, or if an event does not contain a
  /// value of the type.
  public typealias Failure = APIError

  let events: EventStream
  let json: JSONDecoding

  /// Makes an iterator, which opens a connection when the first value is requested.
  public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator(), json: json) }

  /// Reads the events and decodes their values.
  public struct Iterator: AsyncIteratorProtocol {
    private var events: EventStream.Iterator
    private let json: JSONDecoding
    private var number = 0

    init(events: EventStream.Iterator, json: JSONDecoding) {
      self.events = events
      self.json = json
    }

    /// The next value; nil if the server has ended the stream.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> Value? { try await next(isolation: #isolation) }

    /// The next value; nil if the server has ended the stream.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Value? {
      guard let event = try await events.next(isolation: actor) else { return nil }
      number += 1
      do {
        return try event.value(as: Value.self, by: json.filled(by: events.json))
      } catch {
        let clause = "event \(number) of the stream could not be decoded as JSON: \(error)"
        throw events.failure(APIError(.decode, .decoding, APIError.sentence(clause), cause: error))
      }
    }
  }
}

extension EventStream {
  /// The data of the events, decoded as JSON.
  ///
  /// ```swift
  /// for try await price in client.events(of: Prices()).values(of: Price.self) { show(price) }
  /// ```
  ///
  /// An event whose data cannot be decoded as this type ends the stream with an error. So the data of all events must
  /// be values of this type, whatever the ``ServerSentEvent/type`` of an event is.
  ///
  /// - Parameters:
  ///   - type: The type of the value in each event.
  ///   - json: The decoding rules; by default the rules of the request and the client.
  public func values<Value: Decodable & Sendable>(
    of type: Value.Type, by json: JSONDecoding = .inherited
  ) -> EventValues<Value> {
    EventValues(events: self, json: json)
  }
}
