import ErrandSupport

/// The calls of a client that count by a rule for repeats.
final class RepeatControl: Sendable {
  private let table = Locked(RepeatTable<RepeatTurn>())

  /// A call starts: those that it takes the place of are stopped before it does. Nil where nothing is counted.
  func start(_ rule: RepeatRule, of type: Any.Type, _ owner: UInt64?, _ info: CallInfo, _ state: CallState)
    -> RepeatTurn?
  {
    if rule == .runAll { return nil }
    let turn = RepeatTurn(info, state, rule)
    let kind = RepeatTable<RepeatTurn>.Kind(type: ObjectIdentifier(type), owner: owner)
    switch table.withLock({ $0.enter(kind, rule, turn) { $0.isEnding } }) {
    case .goesOn(let ticket, let ending)?:
      turn.take(ticket)
      for earlier in ending { earlier.give(to: info) }
    case .refused(let other)?: turn.refuse(because: other.info)
    case nil: break
    }
    return turn
  }

  /// A call has waited long enough.
  func begin(_ turn: RepeatTurn) {
    if let ticket = turn.ticket { table.withLock { $0.begin(ticket) } }
  }

  /// A call has its outcome.
  func end(_ turn: RepeatTurn) {
    if let ticket = turn.ticket { table.withLock { $0.leave(ticket) } }
  }

  /// How many calls are counted.
  var count: Int { table.withLock { $0.count } }
}
