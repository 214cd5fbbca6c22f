import ErrandSupport

/// The effect of a ``RepeatRule`` on one call: the call waits, is rejected, or is replaced by a newer call.
final class RepeatState: Sendable {
  typealias Ticket = RepeatTable<RepeatState>.Ticket

  private struct Storage: Sendable {
    var ticket: Ticket?
    var rejection: APIError?
    var successor: CallInfo?
    /// The state of the call. For an event stream, the state of its present connection or wait, after the one before,
    /// which may not have ended yet.
    var states: [CallState]
    /// The debounce pause: how long the call waits before it is sent. Nil if the call does not wait.
    var pause: Duration?
  }

  let info: CallInfo
  /// Whether a ``RepeatMembership`` keeps the call in the ``RepeatTable`` after its end.
  let isKept: Bool
  private let storage: Locked<Storage>

  init(_ info: CallInfo, _ state: CallState, _ rule: RepeatRule, isKept: Bool) {
    self.info = info
    self.isKept = isKept
    let pause: Duration? = if case .debounce(let time) = rule { time } else { nil }
    storage = Locked(Storage(states: [state], pause: pause))
  }

  /// The debounce pause: how long the call waits before it is sent. Nil if the call does not wait.
  var pause: Duration? { storage.withLock { $0.pause } }

  /// Identifies the call in the ``RepeatTable``; nil for a rejected call.
  var ticket: Ticket? { storage.withLock { $0.ticket } }

  /// True if the call was stopped and is about to end.
  var isEnding: Bool { storage.withLock { $0.states.last }?.endsBy != nil }

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

  func supersede(by newer: CallInfo) {
    let states = storage.withLock { storage in
      if storage.states.last?.endsBy == nil { storage.successor = newer }
      return storage.states
    }
    for state in states { state.stop(.cancelled) }
  }

  /// Continues with the next wait or connection of an event stream. If a newer call has replaced the stream, the given
  /// state is stopped. A stream whose wait or connection was stopped does not continue.
  func follow(_ state: CallState) {
    let isReplaced = storage.withLock { storage in
      guard let last = storage.states.last, last.endsBy == nil else { return storage.successor != nil }
      (storage.states, storage.pause) = ([last, state], nil)
      return storage.successor != nil
    }
    if isReplaced { state.stop(.cancelled) }
  }
}

/// Keeps an event stream in the ``RepeatTable`` from its first connection to its end, so that its connections and the
/// waits between them are one call there: a newer call also replaces a stream that waits, and a stream that connects
/// again replaces no newer call. The iterator of the stream owns this object.
final class RepeatMembership: Sendable {
  private struct Member: Sendable {
    let control: RepeatControl
    let state: RepeatState
  }

  private let member = Locked<Member?>(nil)

  deinit { end() }

  /// The error of a stream that a newer call replaced; nil if no newer call replaced the stream.
  var supersession: APIError? { member.withLock { $0?.state }?.supersession }

  fileprivate func keep(_ state: RepeatState, in control: RepeatControl) {
    member.withLock { $0 = Member(control: control, state: state) }
  }

  /// Continues with the next wait or connection of the stream. Nil if the stream is not in the table.
  @discardableResult
  func follow(_ state: CallState) -> RepeatState? {
    let known = member.withLock { $0?.state }
    known?.follow(state)
    return known
  }

  /// Removes the stream from the table, because it has ended.
  func end() {
    if let left = member.withLock({ $0.take() }) { left.control.end(left.state) }
  }
}

/// The running calls of a client whose requests declare a ``RepeatRule``. The rule decides whether calls of one request
/// type may run at the same time.
final class RepeatControl: Sendable {
  private let table = Locked(RepeatTable<RepeatState>())

  /// Registers a call that starts, and stops the calls that the new call replaces. Returns nil for the rule `runAll`,
  /// because this rule stops and rejects no calls.
  /// - Parameter membership: The membership of the event stream to which the call belongs; nil for other calls. Only
  ///   the first connection of a stream is a new call.
  func start(
    _ rule: RepeatRule, of type: Any.Type, _ owner: UInt64?, _ info: CallInfo, _ state: CallState,
    _ membership: RepeatMembership?
  ) -> RepeatState? {
    if let known = membership?.follow(state) { return known }
    if rule == .runAll { return nil }
    let repeatState = RepeatState(info, state, rule, isKept: membership != nil)
    let kind = RepeatTable<RepeatState>.Kind(type: ObjectIdentifier(type), owner: owner)
    switch table.withLock({ $0.enter(kind, rule, repeatState) { $0.isEnding } }) {
    case .proceeds(let ticket, let ending)?:
      repeatState.take(ticket)
      membership?.keep(repeatState, in: self)
      for earlier in ending { earlier.supersede(by: info) }
    case .rejected(let other)?: repeatState.reject(because: other.info)
    case nil: break
    }
    return repeatState
  }

  /// Removes a call that has ended from the table of running calls.
  func end(_ repeatState: RepeatState) {
    if let ticket = repeatState.ticket { table.withLock { $0.leave(ticket) } }
  }

  /// The number of running calls whose requests declare a ``RepeatRule`` other than `runAll`.
  var count: Int { table.withLock { $0.count } }
}

/// The running calls whose requests declare a ``RepeatRule``, grouped by request type and owner. The type is a state
/// machine without I/O. When a new call starts, its rule decides what happens to the earlier calls with the same
/// request type and owner.
///
/// | rule of the new call | earlier calls, also those in their debounce pause |
/// |---|---|
/// | cancel previous | are stopped |
/// | ignore new | continue; the new call is rejected |
/// | debounce | are stopped |
struct RepeatTable<Member: Sendable>: Sendable {
  /// Identifies the calls with the same request type and owner. A repeat rule applies to these calls together.
  struct Kind: Sendable, Hashable {
    let type: ObjectIdentifier
    let owner: UInt64?
  }

  struct Ticket: Sendable, Hashable {
    fileprivate let kind: Kind
    fileprivate let number: UInt64
  }

  /// The decision whether a new call may proceed.
  enum Decision: Sendable {
    /// The new call proceeds, and the earlier calls in `ending` must be stopped.
    case proceeds(Ticket, ending: [Member])
    /// The new call fails, because another call with the same request type and owner is running.
    case rejected(by: Member)
  }

  private struct Place: Sendable {
    let number: UInt64
    let member: Member
  }

  private var kinds: [Kind: [Place]] = [:]
  private var last: UInt64 = 0

  var count: Int { kinds.values.reduce(0) { $0 + $1.count } }

  /// Adds a call that starts, unless its rule rejects the call. Returns nil for the rule `runAll`, because the table
  /// does not contain calls with this rule.
  /// - Parameter isEnding: Returns true for a call that is about to end. Such a call is not a reason to reject the new
  ///   call.
  mutating func enter(
    _ kind: Kind, _ rule: RepeatRule, _ member: Member, isEnding: (Member) -> Bool = { _ in false }
  ) -> Decision? {
    let before = kinds[kind, default: []]
    switch rule {
    case .runAll, .inherited: return nil
    // A debounced call stops the others now and not at the end of its pause, so that no old response arrives before.
    case .cancelPrevious, .debounce: return .proceeds(add(kind, member), ending: before.map(\.member))
    case .ignoreNew:
      if let other = before.first(where: { !isEnding($0.member) }) { return .rejected(by: other.member) }
      return .proceeds(add(kind, member), ending: [])
    }
  }

  /// Removes a call that has ended. Returns the removed call, so that the caller can release the call outside the lock.
  @discardableResult
  mutating func leave(_ ticket: Ticket) -> Member? {
    guard let index = kinds[ticket.kind]?.firstIndex(where: { $0.number == ticket.number }) else { return nil }
    let left = kinds[ticket.kind]?.remove(at: index)
    if kinds[ticket.kind]?.isEmpty == true { kinds[ticket.kind] = nil }
    return left?.member
  }

  private mutating func add(_ kind: Kind, _ member: Member) -> Ticket {
    last &+= 1
    kinds[kind, default: []].append(Place(number: last, member: member))
    return Ticket(kind: kind, number: last)
  }
}
