public import ErrandCore

/// A transport that answers from a ``Recording``: no server, no network, the same outcomes.
///
/// ```swift
/// let replay = ReplayTransport(try Recording(contentsOf: "Recordings/users.json"))
/// configuration.transport = .own(replay)
/// // or, for clients that choose a transport by name:
/// TransportRegistry.shared.register("replay") { replay }
/// ```
///
/// Each recorded exchange answers one request, in the recorded order among those that match. A request that matches
/// none fails with the kind `notRecorded`, which is never tried again; the sentence names the nearest exchange and what
/// differs. Sinks, pauses, cancels and informational answers are a ``ScriptedTransport``'s.
public final class ReplayTransport: Transport {
  /// What a request gets whose recorded exchanges have all been used.
  public enum AfterLast: Sendable, Hashable {
    /// The last of them once more.
    case repeated
    /// A failure of kind `notRecorded`.
    case refused
  }

  private let book: ReplayBook
  private let script: ScriptedTransport

  /// Makes a transport.
  /// - Parameters:
  ///   - recording: Where the answers come from.
  ///   - parts: What must be the same for an exchange to answer a request.
  ///   - afterLast: What comes when the exchanges that match are used up.
  public init(
    _ recording: Recording, matching parts: [RequestPart] = RequestPart.standard, afterLast: AfterLast = .repeated
  ) {
    let book = ReplayBook(recording, parts: parts, afterLast: afterLast)
    self.book = book
    script = ScriptedTransport { request in try book.answer(to: request).movedToPresent() }
    LeakCheck.current?.watch(self, "ReplayTransport")
  }

  /// Those of a ``ScriptedTransport``.
  public var capabilities: TransportCapabilities { script.capabilities }

  /// The requests that came, in order, as they were sent.
  public var requests: [HTTPRequest] { script.requests }

  /// The recorded exchanges that have answered nobody yet.
  public var unused: [RecordedExchange] { book.unused }

  /// Gives the recorded answer.
  /// - Throws: `TransportFailure`: the recorded one, or of kind `notRecorded`.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse { try await script.send(exchange) }
}

extension TransportFailure.Kind {
  /// A `ReplayTransport` has no exchange for the request.
  public static let notRecorded = TransportFailure.Kind(rawValue: "notRecorded")
}
