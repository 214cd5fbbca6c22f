import ErrandSupport

/// What a rule for repeats made of one call.
final class RepeatTurn: Sendable {
  typealias Ticket = RepeatTable<RepeatTurn>.Ticket

  private struct Storage: Sendable {
    var ticket: Ticket?
    var refusal: APIError?
    var successor: CallInfo?
  }

  let info: CallInfo
  /// How long the call waits before it begins; nil for not at all.
  let pause: Duration?
  private let state: CallState
  private let storage = Locked(Storage())

  init(_ info: CallInfo, _ state: CallState, _ rule: RepeatRule) {
    self.info = info
    self.state = state
    pause = if case .debounce(let pause) = rule { pause } else { nil }
  }

  /// The place in the table; nil for a call that was refused.
  var ticket: Ticket? { storage.withLock { $0.ticket } }

  /// Whether the call was stopped and is about to end.
  var isEnding: Bool { state.endsBy != nil }

  /// Why the call is not carried out; nil for one that is.
  var refusal: APIError? { storage.withLock { $0.refusal } }

  /// Why the call was cancelled, where a newer one took its place.
  var supersession: APIError? {
    storage.withLock { $0.successor }.map {
      APIError(.cancelled, .cancelled, "The call was cancelled, since \($0) took its place (`repeats`).")
    }
  }

  func take(_ ticket: Ticket) { storage.withLock { $0.ticket = ticket } }

  func refuse(because other: CallInfo) {
    let error = APIError(
      .admission, .repeated,
      "The call was not carried out, since \(other) is under way and its request ignores repeats (`repeats`).")
    storage.withLock { $0.refusal = error }
  }

  /// A newer call takes the place of this one.
  func give(to newer: CallInfo) {
    if state.endsBy == nil { storage.withLock { $0.successor = newer } }
    state.stop(.cancelled)
  }
}
