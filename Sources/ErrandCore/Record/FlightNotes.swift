import ErrandSupport
import Foundation

/// Collects the decisions and the exchanges of one running call, or of one exchange that several calls share, for the
/// ``FlightRecord``. A ``CallRecord`` has this object only if the client records its calls.
package final class FlightNotes: Sendable {
  /// A decision or the start of an exchange, and its time.
  struct Event: Sendable {
    enum Content: Sendable {
      case decision(CallDecision)
      case exchange(ExchangeNotes)
    }

    let moment: MonotonicInstant
    let content: Content
  }

  private struct State: Sendable {
    var request: HTTPRequest?
    var events: [Event] = []
    /// The number of events that were not kept, because the call already had ``FlightNotes/mostEvents`` events.
    var omitted = 0

    mutating func append(_ event: Event) {
      // Most calls have only a few events: one allocation is enough for them.
      if events.isEmpty { events.reserveCapacity(FlightNotes.usualEvents) }
      if events.count < FlightNotes.mostEvents { events.append(event) } else { omitted += 1 }
    }
  }

  /// The largest number of events that are kept for a call, so that a call that lasts long has a bounded record.
  static let mostEvents = 500
  /// The number of events for which memory is allocated at once.
  private static let usualEvents = 3

  let bodyLimit: Int
  /// The time on the wall clock at which the call started.
  let startedAt: Date
  private let state = Locked(State())

  init(bodyLimit: Int, startedAt: Date = Date()) { (self.bodyLimit, self.startedAt) = (bodyLimit, startedAt) }

  /// What is recorded up to now. Exchanges that still run appear as abandoned, also if they end later.
  struct Snapshot: Sendable {
    /// The request of the call as it was built, without the bytes of a long body; nil if it could not be built.
    let request: HTTPRequest?
    /// The decisions and the exchanges in the order in which they were added.
    let events: [Event]
    let omitted: Int
  }

  /// What is recorded up to now.
  var snapshot: Snapshot {
    state.withLock { state in
      for place in state.events.indices {
        if case .exchange(let notes) = state.events[place].content, !notes.hasEnded {
          state.events[place] = Event(moment: state.events[place].moment, content: .exchange(notes.abandoned))
        }
      }
      return Snapshot(request: state.request, events: state.events, omitted: state.omitted)
    }
  }

  /// Empty notes for an exchange whose notes are later added to these; see ``take(_:)``.
  var forExchange: FlightNotes { FlightNotes(bodyLimit: bodyLimit, startedAt: startedAt) }

  /// Records the request of the call before interceptors have changed it.
  func recordBuilt(_ request: HTTPRequest) {
    let kept = request.withoutLongBody(bodyLimit)
    state.withLock { $0.request = kept }
  }

  func add(_ decision: CallDecision, at now: MonotonicInstant) {
    state.withLock { $0.append(Event(moment: now, content: .decision(decision))) }
  }

  /// Records that a request is passed to the transport now. Returns the object that collects the response.
  func begin(_ request: HTTPRequest, at now: MonotonicInstant) -> ExchangeNotes {
    let exchange = ExchangeNotes(request, begun: now, bodyLimit: bodyLimit)
    state.withLock { $0.append(Event(moment: now, content: .exchange(exchange))) }
    return exchange
  }

  /// Adds the events of another exchange of the same call.
  func take(_ other: FlightNotes) {
    let taken = other.state.withLock { $0 }
    state.withLock { state in
      for event in taken.events { state.append(event) }
      state.omitted += taken.omitted
    }
  }
}

extension FlightNotes.Snapshot {
  var ordered: [FlightNotes.Event] {
    let sorted = events.enumerated().sorted { ($0.element.moment, $0.offset) < ($1.element.moment, $1.offset) }
    return sorted.map(\.element)
  }
}

/// Collects what is recorded of one exchange: the request, the response and the measurements.
final class ExchangeNotes: Sendable {
  struct Response: Sendable {
    let head: ResponseHead
    /// The body; nil if bodies are not recorded, or if the body went to a sink or was dropped.
    let body: FlightBody?
    /// The length of the body in bytes; nil if the body went to a sink or was dropped.
    let bodyLength: Int?
  }

  struct End: Sendable {
    var response: Response?
    /// The description of the failure; nil if a response arrived or the exchange still runs.
    var failure: String?
    var metrics: ExchangeMetrics?
    /// Whether the body of the response goes to a sink or is dropped, so that its bytes are not known here.
    fileprivate var isBodyElsewhere = false
  }

  /// The request without the bytes of a long body.
  let request: HTTPRequest
  let requestBody: FlightBody?
  let begun: MonotonicInstant
  private let bodyLimit: Int
  private let state = Locked(End())

  init(_ request: HTTPRequest, begun: MonotonicInstant, bodyLimit: Int) {
    requestBody = bodyLimit > 0 ? request.body?.data.map { FlightBody($0, limit: bodyLimit) } : nil
    (self.request, self.begun, self.bodyLimit) = (request.withoutLongBody(bodyLimit), begun, bodyLimit)
  }

  private init(abandoned other: ExchangeNotes) {
    (request, requestBody) = (other.request, other.requestBody)
    (begun, bodyLimit) = (other.begun, other.bodyLimit)
  }

  /// A copy that never ends.
  var abandoned: ExchangeNotes { ExchangeNotes(abandoned: self) }

  var hasEnded: Bool { state.withLock { $0.metrics != nil } }

  var end: End { state.withLock { $0 } }

  /// Records where the body of the response goes. If the exchange has several response headers, the last call counts.
  func bodyGoes(to disposition: BodyDisposition) {
    let isElsewhere = if case .memory = disposition { false } else { true }
    state.withLock { $0.isBodyElsewhere = isElsewhere }
  }

  func answered(_ response: HTTPResponse) {
    // Without a sink, the transport drops the body of a redirect that is followed.
    let isDropped = response.body.isEmpty && StatusRule.isRedirect(response.status)
    let body = bodyLimit > 0 && !isDropped ? FlightBody(response.body, limit: bodyLimit) : nil
    state.withLock { state in
      let length = state.isBodyElsewhere || isDropped ? nil : response.body.count
      state.response = Response(head: response.head, body: state.isBodyElsewhere ? nil : body, bodyLength: length)
      state.metrics = response.metrics
    }
  }

  func failed(_ error: any Error, at now: MonotonicInstant) {
    var metrics = (error as? TransportFailure)?.metrics ?? ExchangeMetrics()
    if metrics.total == nil { metrics.total = begun.duration(to: now) }
    let text = String(describing: error)
    state.withLock { ($0.failure, $0.metrics) = (text, metrics) }
  }
}

extension HTTPRequest {
  /// A copy that keeps no large body. A body in memory that is short or recorded as a whole is kept, because its secrets
  /// must be masked in what the server responds. Any other body is replaced by one without bytes, so that
  /// ``KnownSecrets`` finds out that it cannot search the body.
  fileprivate func withoutLongBody(_ bodyLimit: Int) -> HTTPRequest {
    let limit = max(KnownSecrets.longestBody, bodyLimit)
    guard let body, body.data.map({ $0.count > limit }) ?? true else { return self }
    var request = self
    request.body = HTTPBody.stream(length: body.length) { _ in
      throw TransportFailure(.bodySource, "The flight record does not keep this body.")
    }
    return request
  }
}

/// The recorded part of a body. The bytes are unchanged; the outputs of the record mask them.
struct FlightBody: Sendable {
  /// The first bytes of the body.
  let bytes: Data
  /// The length of the whole body in bytes.
  let length: Int

  init(_ body: Data, limit: Int) {
    // A copy, so that the record does not keep a large body in memory for a few bytes.
    bytes = body.count <= limit ? body : Data(body.prefix(limit))
    length = body.count
  }

  var isWhole: Bool { bytes.count == length }

  /// Whether the bytes are text in UTF-8. The limit may have cut the last character.
  var isText: Bool {
    (0...(isWhole ? 0 : 3)).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
  }
}
