public import ErrandCore

/// A transport that responds from a ``Recording``. Without a server and a network, requests have the recorded outcomes.
///
/// ```swift
/// let replay = ReplayTransport(try Recording(contentsOf: "Recordings/users.json"))
/// configuration.transport = .own(replay)
/// // or, for clients that choose a transport by name:
/// TransportRegistry.shared.register("replay") { replay }
/// ```
///
/// Each recorded exchange is the outcome of one request. If several exchanges match, they are used in recorded order. A
/// request without a matching exchange fails with the kind `notRecorded`, which is never retried. The message names the
/// most similar exchange and the differences. Sinks, pauses, cancellation and informational responses work as in a
/// ``ScriptedTransport``.
public final class ReplayTransport: Transport {
  /// The outcome of a request when all matching exchanges have been used.
  public enum AfterLast: Sendable, Hashable {
    /// The request gets the response of the last matching exchange again.
    case repeated
    /// The request fails with the kind `notRecorded`.
    case refused
  }

  private let book: ReplayBook
  private let script: ScriptedTransport

  /// Creates a transport.
  /// - Parameters:
  ///   - recording: The recording to respond from.
  ///   - parts: The parts in which a request must equal the recorded request to match an exchange.
  ///   - afterLast: The outcome when all matching exchanges have been used.
  public init(
    _ recording: Recording, matching parts: [RequestPart] = RequestPart.standard, afterLast: AfterLast = .repeated
  ) {
    let book = ReplayBook(recording, parts: parts, afterLast: afterLast)
    self.book = book
    script = ScriptedTransport { request in try book.answer(to: request).movedToPresent() }
    LeakCheck.current?.watch(self, "ReplayTransport")
  }

  /// The capabilities of a ``ScriptedTransport``.
  public var capabilities: TransportCapabilities { script.capabilities }

  /// The requests received so far, in order and unmasked.
  public var requests: [HTTPRequest] { script.requests }

  /// The recorded exchanges that no request has used yet.
  public var unused: [RecordedExchange] { book.unused }

  /// Returns the recorded response.
  /// - Throws: `TransportFailure`: the recorded failure, or one of the kind `notRecorded`.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse { try await script.send(exchange) }
}

extension TransportFailure.Kind {
  /// The recording of a `ReplayTransport` has no exchange for the request.
  public static let notRecorded = TransportFailure.Kind(rawValue: "notRecorded")
}
