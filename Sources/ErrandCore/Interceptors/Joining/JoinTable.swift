/// Decides which calls share which exchange: a state machine without I/O.
///
/// A *flight* is one exchange that several waiting calls share. A *seat* is the place of one waiting call in a flight.
///
/// | flight | join | leave | close | land |
/// |---|---|---|---|---|
/// | open | the call takes a seat | ended if no seat is left | closed | ended, all waiting calls are resumed |
/// | closed | another flight is opened | ended if no seat is left | – | ended, all waiting calls are resumed |
/// | ended | another flight is opened | – | – | – |
///
/// There is at most one open flight for each key.
struct JoinTable<Key: Hashable & Sendable, Flight: Sendable, Waiter: Sendable>: Sendable {
  /// Identifies a flight (a shared exchange). No value is used twice.
  struct FlightID: Sendable, Hashable {
    fileprivate let place: Int
    fileprivate let number: UInt64
  }

  /// Identifies one waiting call of a flight (a shared exchange).
  struct Seat: Sendable, Hashable {
    let flight: FlightID
    fileprivate let number: UInt64
  }

  /// The result of joining a flight (a shared exchange).
  struct Membership: Sendable {
    let seat: Seat
    let flight: Flight
    /// True if this call started the shared exchange.
    let opens: Bool
    /// The new, higher priority of the shared exchange; nil if the priority does not change.
    let priority: CallPriority?
  }

  /// The result of leaving a flight (a shared exchange) before its end.
  struct Departure: Sendable {
    let flight: Flight
    /// True if no other call waits. The shared exchange has then been removed from the table, and the caller must stop
    /// it.
    let isLast: Bool
    /// The new, lower priority of the shared exchange; nil if the priority does not change.
    let priority: CallPriority?
  }

  private struct Seated: Sendable {
    let waiter: Waiter
    var priority: CallPriority
  }

  /// A key together with the *time* of its origin, which is a counter. Each unsafe request to the origin changes the
  /// counter, so that later calls do not join older exchanges.
  private struct Mark: Sendable, Hashable {
    let key: Key
    let time: UInt64

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  private struct Entry: Sendable {
    let id: FlightID
    let mark: Mark
    let flight: Flight
    /// The call that started the exchange. It is stored separately from `others`, because most exchanges have only this
    /// call.
    var opener: Seated?
    var others: [UInt64: Seated] = [:]
    var last: UInt64 = 0
    var priorities = PriorityCount()
    var isListed = true

    var isEmpty: Bool { opener == nil && others.isEmpty }

    mutating func takeSeat(_ number: UInt64) -> Seated? {
      number == 0 ? opener.take() : others.removeValue(forKey: number)
    }

    /// Changes the priority of the call in a seat. Returns false if the seat is empty.
    mutating func change(_ number: UInt64, to priority: CallPriority) -> Bool {
      guard let old = number == 0 ? opener?.priority : others[number]?.priority else { return false }
      priorities.remove(old)
      priorities.add(priority)
      if number == 0 { opener?.priority = priority } else { others[number]?.priority = priority }
      return true
    }
  }

  /// The largest number of origins that are tracked separately. If there are more, an unsafe request closes the shared
  /// exchanges of all origins.
  private static var rememberedOrigins: Int { 64 }

  private var entries: [Entry?] = []
  private var free: [Int] = []
  private var open: [Mark: FlightID] = [:]
  /// Shared exchanges that have not ended, but that no call waits for any more.
  private var abandoned: Set<FlightID> = []
  private var last: UInt64 = 0
  private var times: [HTTPURL.Origin: UInt64] = [:]
  private var otherTime: UInt64 = 0
  private var lastTime: UInt64 = 0

  /// The number of shared exchanges that calls wait for.
  var count: Int { entries.count - free.count }

  /// True if no shared exchange is running. An exchange that all its calls have left counts as running, too.
  var isIdle: Bool { count == 0 && abandoned.isEmpty }

  /// The number of waiting calls.
  var waiting: Int {
    entries.reduce(0) { sum, entry in sum + (entry.map { $0.others.count + ($0.opener == nil ? 0 : 1) } ?? 0) }
  }

  // MARK: - Joining and leaving

  /// Adds a call to the open shared exchange of a key. If there is none, `opening` makes one.
  mutating func join(
    _ key: Key, at origin: HTTPURL.Origin, _ waiter: Waiter, _ priority: CallPriority, opening: () -> Flight
  ) -> Membership {
    let mark = Mark(key: key, time: times.isEmpty ? otherTime : times[origin] ?? otherTime)
    let seated = Seated(waiter: waiter, priority: priority)
    if let id = open[mark], let boarding = seat(seated, in: id) { return boarding }
    let flight = opening()
    let id = add(mark, flight, seated)
    return Membership(seat: Seat(flight: id, number: 0), flight: flight, opens: true, priority: nil)
  }

  /// Removes a waiting call. Returns nil if the call no longer waits or its shared exchange has already ended.
  mutating func leave(_ seat: Seat) -> Departure? {
    guard var entry = takeOut(seat.flight) else { return nil }
    let before = entry.priorities.highest
    guard let left = entry.takeSeat(seat.number) else {
      entries[seat.flight.place] = entry
      return nil
    }
    entry.priorities.remove(left.priority)
    if entry.isEmpty {
      end(&entry)
      abandoned.insert(seat.flight)
      return Departure(flight: entry.flight, isLast: true, priority: nil)
    }
    entries[seat.flight.place] = entry
    let now = entry.priorities.highest
    return Departure(flight: entry.flight, isLast: false, priority: now == before ? nil : now)
  }

  /// Changes the priority of a waiting call. Returns the shared exchange and its new priority; nil if that priority
  /// does not change.
  mutating func change(_ seat: Seat, to priority: CallPriority) -> (flight: Flight, priority: CallPriority)? {
    guard var entry = takeOut(seat.flight) else { return nil }
    defer { entries[seat.flight.place] = entry }
    let before = entry.priorities.highest
    guard entry.change(seat.number, to: priority), let now = entry.priorities.highest, now != before else { return nil }
    return (entry.flight, now)
  }

  /// The highest priority among the calls that wait for a shared exchange; nil if the exchange has ended.
  func priority(of id: FlightID) -> CallPriority? {
    guard entries.indices.contains(id.place), let entry = entries[id.place], entry.id == id else { return nil }
    return entry.priorities.highest
  }

  // MARK: - The end of a shared exchange

  /// Ends a shared exchange. Returns all calls that wait for it: the call that started it, and the others in the order
  /// in which they joined.
  mutating func land(_ id: FlightID) -> (opener: Waiter?, others: [Waiter]) {
    guard var entry = takeOut(id) else {
      abandoned.remove(id)
      return (nil, [])
    }
    end(&entry)
    let others = entry.others.isEmpty ? [] : Self.inOrder(entry.others).map(\.seated.waiter)
    return (entry.opener?.waiter, others)
  }

  /// Closes the shared exchanges with an origin: later calls do not join them.
  mutating func close(_ origin: HTTPURL.Origin) {
    guard !open.isEmpty else { return }
    lastTime &+= 1
    times[origin] = lastTime
    guard times.count > Self.rememberedOrigins else { return }
    times = [:]
    otherTime = lastTime
  }

  /// Reserves a shared exchange for its first waiting call, and closes the exchange for others. Returns the seat of the
  /// first call, and all other waiting calls.
  mutating func part(_ id: FlightID) -> (stays: Seat, others: [Waiter])? {
    guard var entry = takeOut(id) else { return nil }
    defer { entries[id.place] = entry }
    unlist(&entry)
    var others = Self.inOrder(entry.others)
    entry.others = [:]
    var number: UInt64 = 0
    if entry.opener == nil, !others.isEmpty {
      let first = others.removeFirst()
      number = first.number
      entry.others[number] = first.seated
    }
    for other in others { entry.priorities.remove(other.seated.priority) }
    return (Seat(flight: id, number: number), others.map(\.seated.waiter))
  }

  // MARK: - Private

  /// Takes an entry out of the table, so that it is changed in place. Copies would make the time to join n calls grow
  /// with n².
  private mutating func takeOut(_ id: FlightID) -> Entry? {
    guard entries.indices.contains(id.place), entries[id.place]?.id == id else { return nil }
    return entries[id.place].take()
  }

  private mutating func seat(_ seated: Seated, in id: FlightID) -> Membership? {
    guard var entry = takeOut(id) else { return nil }
    defer { entries[id.place] = entry }
    let before = entry.priorities.highest
    entry.last &+= 1
    entry.others[entry.last] = seated
    entry.priorities.add(seated.priority)
    let now = entry.priorities.highest
    return Membership(
      seat: Seat(flight: id, number: entry.last), flight: entry.flight, opens: false,
      priority: now == before ? nil : now)
  }

  private mutating func add(_ mark: Mark, _ flight: Flight, _ opener: Seated) -> FlightID {
    last &+= 1
    let place = free.popLast() ?? entries.count
    let id = FlightID(place: place, number: last)
    var entry = Entry(id: id, mark: mark, flight: flight, opener: opener)
    entry.priorities.add(opener.priority)
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

  private static func inOrder(_ others: [UInt64: Seated]) -> [(number: UInt64, seated: Seated)] {
    others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
