import ErrandSupport

/// The effect of a ``RepeatRule`` on one call: the call waits, is rejected, or is replaced by a newer call.
final class RepeatState: Sendable {
  typealias Ticket = RepeatTable<RepeatState>.Ticket

  private struct Storage: Sendable {
    var ticket: Ticket?
    var rejection: APIError?
    var successor: CallInfo?
  }

  let info: CallInfo
  /// The debounce pause: how long the call waits before it is sent. Nil if the call does not wait.
  let pause: Duration?
  private let state: CallState
  private let storage = Locked(Storage())

  init(_ info: CallInfo, _ state: CallState, _ rule: RepeatRule) {
    self.info = info
    self.state = state
    pause = if case .debounce(let pause) = rule { pause } else { nil }
  }

  /// Identifies the call in the ``RepeatTable``; nil for a rejected call.
  var ticket: Ticket? { storage.withLock { $0.ticket } }

  /// True if the call was stopped and is about to end.
  var isEnding: Bool { state.endsBy != nil }

  /// The error of a call that the repeat rule rejects; nil for a call that may run.
  var rejection: APIError? { storage.withLock { $0.rejection } }

  /// The error of a call that a newer call replaced; nil if no newer call replaced the call.
  var supersession: APIError? {
    storage.withLock { $0.successor }.map {
      APIError(
        .cancelled, .cancelled,
        "The call was cancelled, because the newer call \($0) replaced it, as the rule `repeats` demands.")
    }
  }

  func take(_ ticket: Ticket) { storage.withLock { $0.ticket = ticket } }

  func reject(because other: CallInfo) {
    let error = APIError(
      .admission, .repeated,
      "The call was not started, because \(other) is still running and the rule `repeats` of the call ignores"
        + " new calls.")
    storage.withLock { $0.rejection = error }
  }

  /// Cancels this call, because a newer call replaces it.
  func supersede(by newer: CallInfo) {
    if state.endsBy == nil { storage.withLock { $0.successor = newer } }
    state.stop(.cancelled)
  }
}

/// The running calls of a client whose requests declare a ``RepeatRule``. The rule decides whether calls of one request
/// type may run at the same time.
final class RepeatControl: Sendable {
  private let table = Locked(RepeatTable<RepeatState>())

  /// Registers a call that starts, and stops the calls that the new call replaces. Returns nil for the rule `runAll`,
  /// because this rule stops and rejects no calls.
  func start(_ rule: RepeatRule, of type: Any.Type, _ owner: UInt64?, _ info: CallInfo, _ state: CallState)
    -> RepeatState?
  {
    if rule == .runAll { return nil }
    let repeatState = RepeatState(info, state, rule)
    let kind = RepeatTable<RepeatState>.Kind(type: ObjectIdentifier(type), owner: owner)
    switch table.withLock({ $0.enter(kind, rule, repeatState) { $0.isEnding } }) {
    case .proceeds(let ticket, let ending)?:
      repeatState.take(ticket)
      for earlier in ending { earlier.supersede(by: info) }
    case .rejected(let other)?: repeatState.reject(because: other.info)
    case nil: break
    }
    return repeatState
  }

  /// Records that the debounce pause of a call (its waiting time before it is sent) is over.
  func begin(_ repeatState: RepeatState) {
    if let ticket = repeatState.ticket { table.withLock { $0.begin(ticket) } }
  }

  /// Removes a call that has ended from the table of running calls.
  func end(_ repeatState: RepeatState) {
    if let ticket = repeatState.ticket { table.withLock { $0.leave(ticket) } }
  }

  /// The number of running calls whose requests declare a ``RepeatRule`` other than `runAll`.
  var count: Int { table.withLock { $0.count } }
}
