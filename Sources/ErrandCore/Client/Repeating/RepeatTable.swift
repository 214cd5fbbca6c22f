/// The running calls whose requests declare a ``RepeatRule``, grouped by request type and owner. The type is a state
/// machine without I/O. When a new call starts, its rule decides what happens to the earlier calls with the same
/// request type and owner.
///
/// | rule of the new call | earlier calls that run | earlier calls in their debounce pause |
/// |---|---|---|
/// | cancel previous | are stopped | are stopped |
/// | ignore new | continue; the new call is rejected | continue; the new call is rejected |
/// | debounce | continue | are stopped |
struct RepeatTable<Member: Sendable>: Sendable {
  /// Identifies the calls with the same request type and owner. A repeat rule applies to these calls together.
  struct Kind: Sendable, Hashable {
    let type: ObjectIdentifier
    let owner: UInt64?
  }

  /// Identifies one call in a ``RepeatTable``.
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
    var isWaiting: Bool
  }

  private var kinds: [Kind: [Place]] = [:]
  private var last: UInt64 = 0

  /// The number of running calls in the table.
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
    case .cancelPrevious: return .proceeds(add(kind, member, isWaiting: false), ending: before.map(\.member))
    case .ignoreNew:
      if let other = before.first(where: { !isEnding($0.member) }) { return .rejected(by: other.member) }
      return .proceeds(add(kind, member, isWaiting: false), ending: [])
    case .debounce:
      return .proceeds(add(kind, member, isWaiting: true), ending: before.filter(\.isWaiting).map(\.member))
    }
  }

  /// Records that the debounce pause of a call (its waiting time before it is sent) is over.
  mutating func begin(_ ticket: Ticket) {
    guard let index = kinds[ticket.kind]?.firstIndex(where: { $0.number == ticket.number }) else { return }
    kinds[ticket.kind]?[index].isWaiting = false
  }

  /// Removes a call that has ended. Returns the removed call, so that the caller can release the call outside the lock.
  @discardableResult
  mutating func leave(_ ticket: Ticket) -> Member? {
    guard let index = kinds[ticket.kind]?.firstIndex(where: { $0.number == ticket.number }) else { return nil }
    let left = kinds[ticket.kind]?.remove(at: index)
    if kinds[ticket.kind]?.isEmpty == true { kinds[ticket.kind] = nil }
    return left?.member
  }

  private mutating func add(_ kind: Kind, _ member: Member, isWaiting: Bool) -> Ticket {
    last &+= 1
    kinds[kind, default: []].append(Place(number: last, member: member, isWaiting: isWaiting))
    return Ticket(kind: kind, number: last)
  }
}
