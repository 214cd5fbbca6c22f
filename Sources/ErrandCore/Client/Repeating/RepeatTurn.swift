import ErrandSupport

/// The effect of a repeat rule on one call.
final class RepeatTurn: Sendable {
  typealias Ticket = RepeatTable<RepeatTurn>.Ticket

  private struct Storage: Sendable {
    var ticket: Ticket?
    var refusal: APIError?
    var successor: CallInfo?
  }

  let info: CallInfo
  /// The debounce pause before the call starts; nil for none.
  let pause: Duration?
  private let state: CallState
  private let storage = Locked(Storage())

  init(_ info: CallInfo, _ state: CallState, _ rule: RepeatRule) {
    self.info = info
    self.state = state
    pause = if case .debounce(let pause) = rule { pause } else { nil }
  }

  /// Identifies the call in the table of calls with a repeat rule; nil for a refused call.
  var ticket: Ticket? { storage.withLock { $0.ticket } }

  /// Whether the call was stopped and is about to end.
  var isEnding: Bool { state.endsBy != nil }

  /// The error of a call that the repeat rule refuses; nil for a call that may run.
  var refusal: APIError? { storage.withLock { $0.refusal } }

  /// The error of a call that a newer call replaced; nil if no call replaced it.
  var supersession: APIError? {
    storage.withLock { $0.successor }.map {
      APIError(.cancelled, .cancelled, "The call was cancelled, because \($0) replaced it (`repeats`).")
    }
  }

  func take(_ ticket: Ticket) { storage.withLock { $0.ticket = ticket } }

  func refuse(because other: CallInfo) {
    let error = APIError(
      .admission, .repeated,
      "The call was not started, because \(other) is still running and the rule `repeats` of the request ignores"
        + " new calls.")
    storage.withLock { $0.refusal = error }
  }

  /// Cancels this call, because a newer call replaces it.
  func give(to newer: CallInfo) {
    if state.endsBy == nil { storage.withLock { $0.successor = newer } }
    state.stop(.cancelled)
  }
}
