public import ErrandCore

/// A transport that responds from a ``Recording``. Requests get the recorded outcomes, without a server or a network.
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

  private let matcher: ReplayMatcher
  private let script: ScriptedTransport

  /// Creates a transport that responds from a recording.
  /// - Parameters:
  ///   - recording: The recording to respond from.
  ///   - parts: The parts of the requests that are compared. A request matches an exchange if all these parts are equal
  ///     in the request and in the recorded request.
  ///   - afterLast: The outcome when all matching exchanges have been used.
  public init(
    _ recording: Recording, matching parts: [RequestPart] = RequestPart.standard, afterLast: AfterLast = .repeated
  ) {
    let matcher = ReplayMatcher(recording, parts: parts, afterLast: afterLast)
    self.matcher = matcher
    script = ScriptedTransport { request in try matcher.response(to: request).movedToPresent() }
    LeakCheck.current?.watch(self, "ReplayTransport")
  }

  /// The capabilities of a ``ScriptedTransport``.
  public var capabilities: TransportCapabilities { script.capabilities }

  /// The requests received so far, in order and unmasked.
  public var requests: [HTTPRequest] { script.requests }

  /// The recorded exchanges that no request has used yet.
  public var unused: [RecordedExchange] { matcher.unused }

  /// Returns the recorded response.
  /// - Throws: `TransportFailure`: the recorded failure, or a failure of the kind `notRecorded`.
  public func send(_ exchange: Exchange) async throws -> HTTPResponse { try await script.send(exchange) }
}

extension TransportFailure.Kind {
  /// The recording of a `ReplayTransport` has no exchange for the request.
  public static let notRecorded = TransportFailure.Kind(rawValue: "notRecorded")
}
