/// Which calls share which exchange: a state machine without I/O.
///
/// A *flight* is one exchange for all who wait for it. Each of those has a *seat*.
///
/// | flight | join | leave | close | land |
/// |---|---|---|---|---|
/// | open | takes a seat | the last one ends it | closed | ended, all are told |
/// | closed | opens another one | the last one ends it | – | ended, all are told |
/// | ended | opens another one | – | – | – |
///
/// For each key at most one flight is open.
struct JoinTable<Key: Hashable & Sendable, Flight: Sendable, Waiter: Sendable>: Sendable {
  /// Names a flight; never used twice.
  struct FlightID: Sendable, Hashable {
    fileprivate let place: Int
    fileprivate let number: UInt64
  }

  /// Names one who waits.
  struct Seat: Sendable, Hashable {
    let flight: FlightID
    fileprivate let number: UInt64
  }

  /// How somebody came to a seat.
  struct Boarding: Sendable {
    let seat: Seat
    let flight: Flight
    /// Whether the flight begins with it.
    let opens: Bool
    /// The priority that the flight rises to; nil where it stays.
    let priority: CallPriority?
  }

  /// What somebody who left early leaves behind.
  struct Departure: Sendable {
    let flight: Flight
    /// Whether nobody is left: the flight is out of the table and has to be ended.
    let isLast: Bool
    /// The priority that the flight falls to; nil where it stays.
    let priority: CallPriority?
  }

  private struct Seated: Sendable {
    let waiter: Waiter
    var priority: CallPriority
  }

  /// A key as it was at one time: what is written to an origin ends the time of all flights there.
  private struct Mark: Sendable, Hashable {
    let key: Key
    let time: UInt64

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  private struct Entry: Sendable {
    let id: FlightID
    let mark: Mark
    let flight: Flight
    /// The one who opened it stands apart: most flights have nobody else.
    var opener: Seated?
    var others: [UInt64: Seated] = [:]
    var last: UInt64 = 0
    var priorities = PriorityCount()
    var isListed = true

    var isEmpty: Bool { opener == nil && others.isEmpty }

    mutating func takeSeat(_ number: UInt64) -> Seated? {
      number == 0 ? opener.take() : others.removeValue(forKey: number)
    }

    /// False where nobody sits there.
    mutating func change(_ number: UInt64, to priority: CallPriority) -> Bool {
      guard let old = number == 0 ? opener?.priority : others[number]?.priority else { return false }
      priorities.remove(old)
      priorities.add(priority)
      if number == 0 { opener?.priority = priority } else { others[number]?.priority = priority }
      return true
    }
  }

  /// How many origins are told apart; beyond that a write closes the flights of all.
  private static var rememberedOrigins: Int { 64 }

  private var entries: [Entry?] = []
  private var free: [Int] = []
  private var open: [Mark: FlightID] = [:]
  /// Flights that nobody waits for any more, and that have not landed.
  private var abandoned: Set<FlightID> = []
  private var last: UInt64 = 0
  private var times: [HTTPURL.Origin: UInt64] = [:]
  private var otherTime: UInt64 = 0
  private var lastTime: UInt64 = 0

  /// How many flights are under way.
  var count: Int { entries.count - free.count }

  /// Whether none is, not even one that nobody waits for.
  var isIdle: Bool { count == 0 && abandoned.isEmpty }

  /// How many wait for one of them.
  var waiting: Int {
    entries.reduce(0) { sum, entry in sum + (entry.map { $0.others.count + ($0.opener == nil ? 0 : 1) } ?? 0) }
  }

  // MARK: - Coming and going

  /// Takes a seat in the open flight of a key, or opens one.
  mutating func join(
    _ key: Key, at origin: HTTPURL.Origin, _ waiter: Waiter, _ priority: CallPriority, opening: () -> Flight
  ) -> Boarding {
    let mark = Mark(key: key, time: times.isEmpty ? otherTime : times[origin] ?? otherTime)
    let seated = Seated(waiter: waiter, priority: priority)
    if let id = open[mark], let boarding = seat(seated, in: id) { return boarding }
    let flight = opening()
    let id = add(mark, flight, seated)
    return Boarding(seat: Seat(flight: id, number: 0), flight: flight, opens: true, priority: nil)
  }

  /// Gives a seat up. Nil where the flight has landed before.
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

  /// Changes the priority of one who waits; returns the flight and the priority it has by that, where that differs.
  mutating func change(_ seat: Seat, to priority: CallPriority) -> (flight: Flight, priority: CallPriority)? {
    guard var entry = takeOut(seat.flight) else { return nil }
    defer { entries[seat.flight.place] = entry }
    let before = entry.priorities.highest
    guard entry.change(seat.number, to: priority), let now = entry.priorities.highest, now != before else { return nil }
    return (entry.flight, now)
  }

  /// The highest priority among those who wait; nil where the flight has ended.
  func priority(of id: FlightID) -> CallPriority? {
    guard entries.indices.contains(id.place), let entry = entries[id.place], entry.id == id else { return nil }
    return entry.priorities.highest
  }

  // MARK: - The end of a flight

  /// Ends a flight; returns all who wait for it: the opener, and the others in the order they came.
  mutating func land(_ id: FlightID) -> (opener: Waiter?, others: [Waiter]) {
    guard var entry = takeOut(id) else {
      abandoned.remove(id)
      return (nil, [])
    }
    end(&entry)
    let others = entry.others.isEmpty ? [] : Self.inOrder(entry.others).map(\.seated.waiter)
    return (entry.opener?.waiter, others)
  }

  /// Closes the flights of an origin: from now on nobody joins them.
  mutating func close(_ origin: HTTPURL.Origin) {
    guard !open.isEmpty else { return }
    lastTime &+= 1
    times[origin] = lastTime
    guard times.count > Self.rememberedOrigins else { return }
    times = [:]
    otherTime = lastTime
  }

  /// Leaves a flight to one of those who wait for it, the first, and closes it; returns who stays and all others.
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

  // MARK: - Inside

  /// Takes a flight out to change it in place: a copy would cost the square of those who wait.
  private mutating func takeOut(_ id: FlightID) -> Entry? {
    guard entries.indices.contains(id.place), entries[id.place]?.id == id else { return nil }
    return entries[id.place].take()
  }

  private mutating func seat(_ seated: Seated, in id: FlightID) -> Boarding? {
    guard var entry = takeOut(id) else { return nil }
    defer { entries[id.place] = entry }
    let before = entry.priorities.highest
    entry.last &+= 1
    entry.others[entry.last] = seated
    entry.priorities.add(seated.priority)
    let now = entry.priorities.highest
    return Boarding(
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

  /// Ends a flight that was taken out.
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
