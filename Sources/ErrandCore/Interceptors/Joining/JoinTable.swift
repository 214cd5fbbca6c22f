/// Decides which calls share which exchange: a state machine without I/O.
///
/// A *shared exchange* is one exchange for which several calls wait. A *member* is one of these calls.
///
/// A shared exchange is open, closed or ended. The table shows the effect of each method in each of these states:
///
/// | exchange | join | leave | close | finish |
/// |---|---|---|---|---|
/// | open | the call becomes a member | ended if no member is left | closed | ended, all waiting calls are resumed |
/// | closed | a new exchange is opened | ended if no member is left | – | ended, all waiting calls are resumed |
/// | ended | a new exchange is opened | – | – | – |
///
/// There is at most one open exchange for each key.
struct JoinTable<Key: Hashable & Sendable, Exchange: Sendable, Waiter: Sendable>: Sendable {
  /// Identifies a shared exchange. No value is used twice.
  struct ExchangeID: Sendable, Hashable {
    fileprivate let place: Int
    fileprivate let number: UInt64
  }

  /// Identifies one waiting call, a member, of a shared exchange.
  struct MemberID: Sendable, Hashable {
    let exchange: ExchangeID
    fileprivate let number: UInt64
  }

  /// Tells a call that has joined a shared exchange which exchange this is, and what the call must do.
  struct Membership: Sendable {
    let member: MemberID
    let exchange: Exchange
    let startsExchange: Bool
    /// The new, higher priority of the shared exchange; nil if the priority does not change.
    let priority: CallPriority?
  }

  /// Tells a call that has left a running shared exchange which exchange this was, and what the call must do.
  struct Departure: Sendable {
    let exchange: Exchange
    /// True if no other call waits. The shared exchange has then been removed from the table, and the caller must stop
    /// it.
    let isLast: Bool
    /// The new, lower priority of the shared exchange; nil if the priority does not change.
    let priority: CallPriority?
  }

  private struct Member: Sendable {
    let waiter: Waiter
    var priority: CallPriority
  }

  /// The key of a shared exchange, and a number that belongs to the origin of the key. Each unsafe request to the
  /// origin changes the number. So the marks of later calls differ, and these calls do not join older exchanges.
  private struct Mark: Sendable, Hashable {
    let key: Key
    let time: UInt64

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  private struct Entry: Sendable {
    let id: ExchangeID
    let mark: Mark
    let exchange: Exchange
    /// The call that started the exchange. This call is stored separately from `others`, because most exchanges have no
    /// other call.
    var initiator: Member?
    var others: [UInt64: Member] = [:]
    var last: UInt64 = 0
    var priorities = PriorityCount()
    var isListed = true

    var isEmpty: Bool { initiator == nil && others.isEmpty }

    mutating func takeMember(_ number: UInt64) -> Member? {
      number == 0 ? initiator.take() : others.removeValue(forKey: number)
    }

    /// Changes the priority of a waiting call of this shared exchange. Returns false if the call with the given number
    /// no longer waits.
    mutating func change(_ number: UInt64, to priority: CallPriority) -> Bool {
      guard let old = number == 0 ? initiator?.priority : others[number]?.priority else { return false }
      priorities.remove(old)
      priorities.add(priority)
      if number == 0 { initiator?.priority = priority } else { others[number]?.priority = priority }
      return true
    }
  }

  /// The largest number of origins whose unsafe requests are tracked separately. If the number is exceeded, the shared
  /// exchanges of all origins are closed.
  private static var rememberedOrigins: Int { 64 }

  private var entries: [Entry?] = []
  private var free: [Int] = []
  private var open: [Mark: ExchangeID] = [:]
  /// The shared exchanges that have not ended, but for which no call waits any more.
  private var abandoned: Set<ExchangeID> = []
  private var last: UInt64 = 0
  private var times: [HTTPURL.Origin: UInt64] = [:]
  private var otherTime: UInt64 = 0
  private var lastTime: UInt64 = 0

  /// The number of shared exchanges for which at least one call waits.
  var count: Int { entries.count - free.count }

  /// True if no shared exchange is running. An exchange that all its calls have left counts as running, too.
  var isIdle: Bool { count == 0 && abandoned.isEmpty }

  var waiting: Int {
    entries.reduce(0) { sum, entry in sum + (entry.map { $0.others.count + ($0.initiator == nil ? 0 : 1) } ?? 0) }
  }

  // MARK: - Joining and leaving

  /// Adds a call to the open shared exchange of a key. If the key has no open shared exchange, `makeExchange` makes a
  /// new one.
  mutating func join(
    _ key: Key, at origin: HTTPURL.Origin, _ waiter: Waiter, _ priority: CallPriority, makeExchange: () -> Exchange
  ) -> Membership {
    let mark = Mark(key: key, time: times.isEmpty ? otherTime : times[origin] ?? otherTime)
    let member = Member(waiter: waiter, priority: priority)
    if let id = open[mark], let membership = add(member, to: id) { return membership }
    let exchange = makeExchange()
    let id = add(mark, exchange, member)
    return Membership(
      member: MemberID(exchange: id, number: 0), exchange: exchange, startsExchange: true, priority: nil)
  }

  /// Removes a waiting call. Returns nil if the call no longer waits or its shared exchange has already ended.
  mutating func leave(_ member: MemberID) -> Departure? {
    guard var entry = takeOut(member.exchange) else { return nil }
    let before = entry.priorities.highest
    guard let left = entry.takeMember(member.number) else {
      entries[member.exchange.place] = entry
      return nil
    }
    entry.priorities.remove(left.priority)
    if entry.isEmpty {
      end(&entry)
      abandoned.insert(member.exchange)
      return Departure(exchange: entry.exchange, isLast: true, priority: nil)
    }
    entries[member.exchange.place] = entry
    let now = entry.priorities.highest
    return Departure(exchange: entry.exchange, isLast: false, priority: now == before ? nil : now)
  }

  /// Changes the priority of a waiting call. Returns the shared exchange and its new priority; nil if the priority of
  /// the shared exchange does not change.
  mutating func change(_ member: MemberID, to priority: CallPriority) -> (exchange: Exchange, priority: CallPriority)? {
    guard var entry = takeOut(member.exchange) else { return nil }
    defer { entries[member.exchange.place] = entry }
    let before = entry.priorities.highest
    guard entry.change(member.number, to: priority), let now = entry.priorities.highest, now != before else {
      return nil
    }
    return (entry.exchange, now)
  }

  /// The highest priority among the calls that wait for a shared exchange; nil if the exchange has ended.
  func priority(of id: ExchangeID) -> CallPriority? {
    guard entries.indices.contains(id.place), let entry = entries[id.place], entry.id == id else { return nil }
    return entry.priorities.highest
  }

  // MARK: - The end of a shared exchange

  /// Ends a shared exchange. Returns all calls that wait for the exchange: the call that started the exchange, and the
  /// other calls in the order in which they joined.
  mutating func finish(_ id: ExchangeID) -> (initiator: Waiter?, others: [Waiter]) {
    guard var entry = takeOut(id) else {
      abandoned.remove(id)
      return (nil, [])
    }
    end(&entry)
    let others = entry.others.isEmpty ? [] : Self.inOrder(entry.others).map(\.member.waiter)
    return (entry.initiator?.waiter, others)
  }

  /// Closes the shared exchanges with an origin, so that later calls do not join these exchanges.
  mutating func close(_ origin: HTTPURL.Origin) {
    guard !open.isEmpty else { return }
    lastTime &+= 1
    times[origin] = lastTime
    guard times.count > Self.rememberedOrigins else { return }
    times = [:]
    otherTime = lastTime
  }

  /// Closes one shared exchange, so that later calls do not join it.
  mutating func close(_ id: ExchangeID) {
    guard var entry = takeOut(id) else { return }
    unlist(&entry)
    entries[id.place] = entry
  }

  /// Reserves a shared exchange for its first waiting call, and closes the exchange for later calls. Returns the first
  /// call, which stays, and all other waiting calls.
  mutating func split(_ id: ExchangeID) -> (stays: MemberID, others: [Waiter])? {
    guard var entry = takeOut(id) else { return nil }
    defer { entries[id.place] = entry }
    unlist(&entry)
    var others = Self.inOrder(entry.others)
    entry.others = [:]
    var number: UInt64 = 0
    if entry.initiator == nil, !others.isEmpty {
      let first = others.removeFirst()
      number = first.number
      entry.others[number] = first.member
    }
    for other in others { entry.priorities.remove(other.member.priority) }
    return (MemberID(exchange: id, number: number), others.map(\.member.waiter))
  }

  // MARK: - Private

  /// Takes the entry of a shared exchange out of the table, so that the caller can change the entry without a copy. If
  /// each change copied the entry, the time to join n calls would grow with n².
  private mutating func takeOut(_ id: ExchangeID) -> Entry? {
    guard entries.indices.contains(id.place), entries[id.place]?.id == id else { return nil }
    return entries[id.place].take()
  }

  private mutating func add(_ member: Member, to id: ExchangeID) -> Membership? {
    guard var entry = takeOut(id) else { return nil }
    defer { entries[id.place] = entry }
    let before = entry.priorities.highest
    entry.last &+= 1
    entry.others[entry.last] = member
    entry.priorities.add(member.priority)
    let now = entry.priorities.highest
    return Membership(
      member: MemberID(exchange: id, number: entry.last), exchange: entry.exchange, startsExchange: false,
      priority: now == before ? nil : now)
  }

  private mutating func add(_ mark: Mark, _ exchange: Exchange, _ initiator: Member) -> ExchangeID {
    last &+= 1
    let place = free.popLast() ?? entries.count
    let id = ExchangeID(place: place, number: last)
    var entry = Entry(id: id, mark: mark, exchange: exchange, initiator: initiator)
    entry.priorities.add(initiator.priority)
    if place == entries.count { entries.append(entry) } else { entries[place] = entry }
    open[mark] = id
    return id
  }

  /// Ends a shared exchange whose entry was taken out of the table.
  private mutating func end(_ entry: inout Entry) {
    unlist(&entry)
    free.append(entry.id.place)
  }

  private mutating func unlist(_ entry: inout Entry) {
    guard entry.isListed else { return }
    entry.isListed = false
    open[entry.mark] = nil
    if open.isEmpty, !times.isEmpty { times = [:] }
  }

  private static func inOrder(_ others: [UInt64: Member]) -> [(number: UInt64, member: Member)] {
    others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

struct PriorityCount: Sendable, Hashable {
  private var low = 0
  private var normal = 0
  private var high = 0

  var highest: CallPriority? {
    if high > 0 { return .high }
    if normal > 0 { return .normal }
    return low > 0 ? .low : nil
  }

  mutating func add(_ priority: CallPriority) { change(priority, by: 1) }

  mutating func remove(_ priority: CallPriority) { change(priority, by: -1) }

  private mutating func change(_ priority: CallPriority, by step: Int) {
    switch priority {
    case .low: low += step
    case .normal: normal += step
    case .high: high += step
    }
  }
}
