/// Which calls of one kind are under way: a state machine without I/O.
///
/// | rule | others under way | others that still wait |
/// |---|---|---|
/// | cancel previous | are ended | are ended |
/// | ignore new | refuse the new one | refuse the new one |
/// | debounce | go on | are ended |
struct RepeatTable<Member: Sendable>: Sendable {
  /// What is counted together.
  struct Kind: Sendable, Hashable {
    let type: ObjectIdentifier
    let owner: UInt64?
  }

  /// Names one call in the table.
  struct Ticket: Sendable, Hashable {
    fileprivate let kind: Kind
    fileprivate let number: UInt64
  }

  /// What becomes of a new call.
  enum Entry: Sendable {
    /// It goes on, and those before it end.
    case goesOn(Ticket, ending: [Member])
    /// It fails, since another one is under way.
    case refused(by: Member)
  }

  private struct Place: Sendable {
    let number: UInt64
    let member: Member
    var isWaiting: Bool
  }

  private var kinds: [Kind: [Place]] = [:]
  private var last: UInt64 = 0

  /// How many calls are counted.
  var count: Int { kinds.values.reduce(0) { $0 + $1.count } }

  /// A call starts. Nil where its rule says that nothing is counted.
  /// - Parameter isEnding: Whether a call is about to end: it refuses nobody any more.
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

  /// A call has waited long enough.
  mutating func begin(_ ticket: Ticket) {
    guard let index = kinds[ticket.kind]?.firstIndex(where: { $0.number == ticket.number }) else { return }
    kinds[ticket.kind]?[index].isWaiting = false
  }

  /// A call has ended. Returns it, so that it is let go outside the lock.
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
