public import Foundation

/// One call in a ``FlightRecord``: its request, its outcome, its decisions and its exchanges.
///
/// All texts are masked as the ``FlightRecording/Detail`` of the client demands.
public struct FlightCall: Sendable, Identifiable {
  /// The outcome of a call.
  public enum Outcome: Sendable, Hashable {
    /// The call succeeded. The values are the status of the response and its source.
    case success(status: Int?, ResponseOrigin?)
    /// The call failed. The values are the stage and the code of its error, the message of the error, and the status of
    /// the response if there was one.
    case failure(APIError.Stage, APIError.Code, message: String, status: Int?)
  }

  /// A decision and its time.
  public struct TimedDecision: Sendable, Hashable {
    /// The time from the start of the call until the decision. Negative for a decision about an exchange that the call
    /// joined later.
    public let offset: Duration
    /// The decision.
    public let decision: CallDecision
  }

  /// The recorded data, unmasked, in one object that all copies of a call share. The call only stores them; texts and
  /// lists are made when the record is read, see ``decisions`` and ``exchanges``.
  final class Storage: Sendable {
    let number: UInt64
    let type: any APIRequest.Type
    let tag: String?
    let startedAt: Date
    let started: MonotonicInstant
    let duration: Duration
    let outcome: Outcome
    let attempts: Int
    let notes: FlightNotes.Snapshot
    /// The decision that ended the call without success, if no interceptor has recorded it.
    let last: CallDecision?
    let client: FlightClient

    /// - Parameter started: The start of the call on the clock of the notes.
    init(
      _ info: CallInfo, _ notes: FlightNotes, started: MonotonicInstant, duration: Duration, _ outcome: Outcome,
      attempts: Int, last: CallDecision?, _ client: FlightClient
    ) {
      // Only the type of the app's request is kept, because the request itself may contain a large body.
      (number, type, tag) = (info.id, Swift.type(of: info.request), info.tag)
      (startedAt, self.started, self.duration) = (notes.startedAt, started, duration)
      (self.outcome, self.attempts, self.notes, self.last) = (outcome, attempts, notes.snapshot, last)
      self.client = client
    }

    var request: HTTPRequest? { notes.request }

    var decisions: [TimedDecision] {
      let steps = notes.ordered.map { event in
        let offset = started.duration(to: event.moment)
        return switch event.content {
        case .decision(let decision): TimedDecision(offset: offset, decision: decision)
        case .exchange(let exchange):
          TimedDecision(offset: offset, decision: .sent(client.route(of: exchange.end.metrics)))
        }
      }
      return steps + (last.map { [TimedDecision(offset: duration, decision: $0)] } ?? [])
    }

    var exchanges: [ExchangeNotes] {
      notes.ordered.compactMap { event in
        guard case .exchange(let exchange) = event.content else { return nil }
        return exchange
      }
    }
  }

  let storage: Storage

  /// The number of the call, which is unique in the process: `CallInfo.id`.
  public var number: UInt64 { storage.number }
  /// The number of the call.
  public var id: UInt64 { number }
  /// The name of the request's type.
  public var requestType: String { "\(storage.type)" }
  /// The tag from the options of the call; nil if none was set.
  public var tag: String? { storage.tag.map { mask.text($0) } }
  /// The method of the request as it was built; nil if the request could not be built.
  public var method: HTTPMethod? { storage.request?.method }
  /// The URL of the request as it was built; nil if the request could not be built.
  public var url: String? { storage.request.map { mask.url($0.url.string) } }
  /// The time on the wall clock at which the call started.
  public var startedAt: Date { storage.startedAt }
  /// The time from the start of the call until its result was known.
  public var duration: Duration { storage.duration }
  /// How many times the call sent a request over the network.
  public var attempts: Int { storage.attempts }
  /// The outcome of the call.
  public var outcome: Outcome { maskedOutcome(by: mask) }

  func maskedOutcome(by mask: FlightMask) -> Outcome {
    guard case .failure(let stage, let code, let message, let status) = storage.outcome else { return storage.outcome }
    // The message may quote the response, if there is one.
    let text = status == nil ? mask.text(message) : mask.serverText(message)
    return .failure(stage, code, message: text, status: status)
  }

  /// The decisions of the call, in the order of their times. At most 500 decisions and exchanges of a call are kept.
  public var decisions: [TimedDecision] {
    let mask = mask
    return storage.decisions.map { TimedDecision(offset: $0.offset, decision: $0.decision.masked(mask)) }
  }
  /// The exchanges of the call, in the order of their starts.
  public var exchanges: [FlightExchange] { maskedExchanges(by: mask) }

  func maskedExchanges(by mask: FlightMask) -> [FlightExchange] {
    storage.exchanges.map { exchange in
      FlightExchange(offset: storage.started.duration(to: exchange.begun), notes: exchange, mask: mask)
    }
  }

  /// The decisions of the call as sentences, one on each line, such as `retried after 420 ms: status 503, attempt 2 of
  /// 3`.
  public var why: String { sentences(maskedBy: mask).joined(separator: "\n") }

  func sentences(maskedBy mask: FlightMask) -> [String] {
    let count = storage.notes.omitted
    let omitted = count > 0 ? ["\(count) later decisions and exchanges are not recorded"] : []
    return storage.decisions.map { mask.text($0.decision.masked(mask).description) } + omitted
  }

  /// The mask for all texts of this call. Making it takes time in proportion to the number of exchanges.
  var mask: FlightMask {
    let exchanges = storage.exchanges
    return FlightMask(
      storage.client.detail, [storage.request].compactMap { $0 } + exchanges.map(\.request),
      exchanges.compactMap { $0.end.response?.head.fields })
  }
}

extension FlightCall: Masked {
  /// The number, the request, the outcome and the duration of the call on one line, then the decisions with their times
  /// on a line each.
  public var description: String {
    let mask = mask
    let request = [method?.rawValue, url].compactMap { $0 }.joined(separator: " ")
    let head = "#\(number) \(requestType) \(request) → \(outcome.words), \(CallDecision.text(duration))"
    let lines = storage.decisions.map { step in
      let sign = step.offset < .zero ? "" : "+"
      return "  \(sign)\(CallDecision.text(step.offset))  \(mask.text(step.decision.masked(mask).description))"
    }
    return ([mask.text(head)] + lines).joined(separator: "\n")
  }
}

extension FlightCall.Outcome {
  fileprivate var words: String {
    switch self {
    case .success(let status, let origin):
      [status.map { "\($0)" }, origin?.rawValue].compactMap { $0 }.joined(separator: " from ")
    case .failure(let stage, let code, _, let status):
      "failed: \(stage.rawValue)/\(code)" + (status.map { " \($0)" } ?? "")
    }
  }
}

/// One exchange of a recorded call with a server.
public struct FlightExchange: Sendable {
  /// The time from the start of the call until the request was passed to the transport. Negative for an exchange that
  /// the call joined later.
  public let offset: Duration
  /// The recorded data, unmasked.
  let notes: ExchangeNotes
  let mask: FlightMask

  /// The method of the request.
  public var method: HTTPMethod { notes.request.method }
  /// The URL of the request.
  public var url: String { mask.url(notes.request.url.string) }
  /// The header fields of the request, without the fields that only frame the body.
  public var requestHeaders: [HTTPField] { mask.fields(notes.request.fields) }
  /// The text of the request body: its recorded bytes, or a text with its length if the bytes must not be shown. Nil if
  /// no body is recorded.
  public var requestBody: String? { notes.requestBody.map { mask.body($0, notes.request.fields) } }
  /// The status of the response; nil if no response arrived.
  public var status: Int? { notes.end.response?.head.status }
  /// The header fields of the response; empty if no response arrived.
  public var responseHeaders: [HTTPField] { notes.end.response.map { mask.responseFields($0.head.fields) } ?? [] }
  /// The text of the response body: its recorded bytes, or a text with its length if the bytes must not be shown. Nil
  /// if no body is recorded, as for a body that is streamed or written to a file.
  public var responseBody: String? {
    notes.end.response.flatMap { response in response.body.map { mask.responseBody($0, response.head.fields) } }
  }
  /// The description of the failure; nil if a response arrived, or if the exchange was abandoned.
  public var failure: String? { notes.end.failure.map(mask.text) }
  /// The measurements of the exchange, without its URL.
  public var metrics: ExchangeMetrics {
    var metrics = notes.end.metrics ?? ExchangeMetrics()
    (metrics.method, metrics.url, metrics.status) = (method, nil, status)
    return metrics
  }
}

extension FlightExchange: Masked {
  /// The request and the status or the failure on one line.
  public var description: String {
    mask.text("\(method.rawValue) \(url) → \(status.map { "\($0)" } ?? failure ?? "abandoned")")
  }
}
