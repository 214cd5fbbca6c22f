public import ErrandCore
import ErrandSupport

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

/// Finds the recorded exchange for a request of a ``ReplayTransport``, and remembers which exchanges are used.
final class ReplayMatcher: Sendable {
  private struct State: Sendable {
    var isUsed: [Bool]
    var learnt = LearntSecrets()
  }

  private let recording: Recording
  private let parts: [RequestPart]
  private let afterLast: ReplayTransport.AfterLast
  private let state: Locked<State>

  init(_ recording: Recording, parts: [RequestPart], afterLast: ReplayTransport.AfterLast) {
    self.recording = recording
    self.parts = parts
    self.afterLast = afterLast
    state = Locked(State(isUsed: recording.exchanges.map { _ in false }))
  }

  var unused: [RecordedExchange] {
    let isUsed = state.withLock { $0.isUsed }
    return zip(recording.exchanges, isUsed).filter { !$1 }.map(\.0)
  }

  func response(to request: HTTPRequest) throws(TransportFailure) -> ScriptedAnswer {
    let sent = masked(request)
    let indices = recording.exchanges.indices
    var matches = indices.filter { index in
      parts.allSatisfy { $0.isSame(recording.exchanges[index].request, sent) }
    }
    if matches.isEmpty { matches = indices.filter { differences(of: sent, from: $0).isEmpty } }
    guard let last = matches.last else { throw unmatched(sent) }
    let chosen = state.withLock { state -> Int? in
      guard let next = matches.first(where: { !state.isUsed[$0] }) else { return nil }
      state.isUsed[next] = true
      return next
    }
    if let chosen { return recording.exchanges[chosen].answer }
    guard afterLast == .repeated else { throw usedUp(sent, matches.count) }
    return recording.exchanges[last].answer
  }

  /// Masks a request in the same way as the recorder would have masked it.
  private func masked(_ request: HTTPRequest) -> HTTPRequest {
    var masking = Masking(recording.mask, learnt: state.withLock { $0.learnt })
    let request = masking.request(request)
    let learnt = masking.learnt
    state.withLock { $0.learnt.formUnion(learnt) }
    return learnt.masked(request)
  }

  private func differences(of sent: HTTPRequest, from index: Int) -> [RequestPart] {
    let recorded = recording.exchanges[index].request
    return parts.filter { !$0.fits(recorded, sent) }
  }

  // MARK: - Messages

  private func unmatched(_ sent: HTTPRequest) -> TransportFailure {
    let scores = recording.exchanges.indices.map { ($0, differences(of: sent, from: $0)) }
    let cure = "Record the request, or compare fewer parts of the request (parameter `matching:`)."
    guard let (index, differences) = scores.min(by: { $0.1.count < $1.1.count }) else {
      return TransportFailure(.notRecorded, "\(Self.line(sent)) is not recorded: the recording is empty. \(cure)")
    }
    let nearest = "exchange \(index + 1), \(Self.line(recording.exchanges[index].request))"
    let names = differences.map(\.name).joined(separator: ", ")
    return TransportFailure(
      .notRecorded,
      "\(Self.line(sent)) is not recorded. The most similar recorded request is \(nearest), "
        + "which differs in: \(names). \(cure)")
  }

  private func usedUp(_ sent: HTTPRequest, _ count: Int) -> TransportFailure {
    TransportFailure(
      .notRecorded,
      "\(Self.line(sent)) was recorded \(Self.times(count)), but is sent again. "
        + "Record the repetition, too, or repeat the last response (`afterLast: .repeated`).")
  }

  private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

  /// The method and the complete URL. The URL has no secrets, because the request is already masked.
  private static func line(_ request: HTTPRequest) -> String { "\(request.method) \(request.url.string)" }
}
