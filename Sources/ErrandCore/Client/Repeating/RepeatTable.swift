/// The running calls that have a repeat rule, grouped by request type and owner: a state machine without I/O. When a
/// new call starts, its rule decides what happens to the earlier calls of the same group.
///
/// | rule of the new call | earlier calls that run | earlier calls in their debounce pause |
/// |---|---|---|
/// | cancel previous | are stopped | are stopped |
/// | ignore new | continue; the new call is refused | continue; the new call is refused |
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

  /// The decision on a new call.
  enum Entry: Sendable {
    /// The call proceeds, and the calls in `ending` are stopped.
    case goesOn(Ticket, ending: [Member])
    /// The new call fails, because another call of the same kind is running.
    case refused(by: Member)
  }

  private struct Place: Sendable {
    let number: UInt64
    let member: Member
    var isWaiting: Bool
  }

  private var kinds: [Kind: [Place]] = [:]
  private var last: UInt64 = 0

  /// The number of calls in the table.
  var count: Int { kinds.values.reduce(0) { $0 + $1.count } }

  /// Adds a call that starts, unless its rule refuses it. Returns nil for the rule `runAll`, under which calls are not
  /// counted.
  /// - Parameter isEnding: Returns true for a call that is about to end. A call that is about to end does not cause the
  ///   new call to be refused.
  mutating func enter(
    _ kind: Kind, _ rule: RepeatRule, _ member: Member, isEnding: (Member) -> Bool = { _ in false }
  ) -> Entry? {
    let before = kinds[kind, default: []]
    switch rule {
    case .runAll: return nil
    case .cancelPrevious: return .goesOn(add(kind, member, isWaiting: false), ending: before.map(\.member))
    case .ignoreNew:
      if let other = before.first(where: { !isEnding($0.member) }) { return .refused(by: other.member) }
      return .goesOn(add(kind, member, isWaiting: false), ending: [])
    case .debounce:
      return .goesOn(add(kind, member, isWaiting: true), ending: before.filter(\.isWaiting).map(\.member))
    }
  }

  /// Records that the debounce pause of a call is over.
  mutating func begin(_ ticket: Ticket) {
    guard let index = kinds[ticket.kind]?.firstIndex(where: { $0.number == ticket.number }) else { return }
    kinds[ticket.kind]?[index].isWaiting = false
  }

  /// Removes a call that has ended. Returns the member, so that the caller can release it outside the lock.
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
