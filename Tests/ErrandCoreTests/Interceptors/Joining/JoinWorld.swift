@testable import ErrandCore

/// A ``JoinTable``, and beside it the same in a form that cannot be wrong.
struct JoinWorld {
  typealias Table = JoinTable<String, Int, Int>

  /// What became of a caller.
  enum Caller: Hashable { case outside, seated(Table.Seat), told, left, alone }

  /// What can happen next.
  enum Event { case join(Int), leave(Int), land(Int), part(Int), close }

  /// A flight as it should be.
  private struct Model {
    let id: Table.FlightID
    let key: String
    var isOpen = true
    var callers: [Int] = []

    var highest: CallPriority? { callers.map { JoinWorld.priorities[$0] }.max() }
  }

  static let origin = HTTPURL.Origin.test("http://red.example")
  private static let priorities: [CallPriority] = [.low, .high, .normal]

  /// What was not as it should be.
  private(set) var faults: [String] = []

  private let keys: [String]
  private var table = Table()
  private var callers: [Caller]
  private var flights: [Int: Model] = [:]
  private var opened = 0
  private var ended = 0
  private var mayClose = true
  private var mayPart = true

  /// - Parameter keys: What each of the callers asks for.
  init(_ keys: [String]) {
    self.keys = keys
    callers = keys.map { _ in .outside }
  }

  /// All that can happen next; nothing once each caller has come and gone.
  var events: [Event] {
    var events: [Event] = []
    for (index, caller) in callers.enumerated() {
      switch caller {
      case .outside: events.append(.join(index))
      case .seated: events.append(.leave(index))
      case .told, .left, .alone: break
      }
    }
    if events.isEmpty { return [] }
    for flight in flights.keys {
      events.append(.land(flight))
      if mayPart { events.append(.part(flight)) }
    }
    return mayClose ? events + [.close] : events
  }

  mutating func play(_ event: Event) {
    switch event {
    case .join(let index): join(index)
    case .leave(let index): leave(index)
    case .land(let flight): land(flight)
    case .part(let flight): part(flight)
    case .close:
      mayClose = false
      table.close(Self.origin)
      for flight in flights.keys { flights[flight]?.isOpen = false }
    }
    check()
  }

  /// Nobody is there any more.
  mutating func finish() {
    require(table.count == 0 && table.waiting == 0, "the table is empty")
    require(ended == opened, "each flight ends once")
    require(callers.allSatisfy { [.told, .left, .alone].contains($0) }, "each caller ends")
  }

  private mutating func join(_ index: Int) {
    let key = keys[index]
    let open = flights.first { $0.value.isOpen && $0.value.key == key }?.key
    let number = opened + 1
    let boarding = table.join(key, at: Self.origin, index, Self.priorities[index]) { number }
    require(boarding.opens == (open == nil), "a flight is opened where none is open")
    require(boarding.flight == open ?? number, "nobody joins a flight that is closed or over")
    if boarding.opens {
      opened = number
      flights[number] = Model(id: boarding.seat.flight, key: key)
    }
    let before = flights[boarding.flight]?.highest
    flights[boarding.flight]?.callers.append(index)
    let now = flights[boarding.flight]?.highest
    require(boarding.priority == (boarding.opens || now == before ? nil : now), "the flight rises")
    callers[index] = .seated(boarding.seat)
  }

  private mutating func leave(_ index: Int) {
    guard case .seated(let seat) = callers[index],
      let flight = flights.first(where: { $0.value.callers.contains(index) })?.key
    else { return require(false, "who is seated has a flight") }
    let before = flights[flight]?.highest
    flights[flight]?.callers.removeAll { $0 == index }
    let now = flights[flight]?.highest
    let departure = table.leave(seat)
    require(departure?.flight == flight, "who leaves leaves its flight")
    require(departure?.isLast == (now == nil), "the last to leave ends it")
    require(departure?.priority == (now == before ? nil : now), "the flight falls")
    require(table.leave(seat) == nil, "a seat is given up once")
    callers[index] = .left
    if now == nil { end(flight) }
  }

  private mutating func land(_ flight: Int) {
    guard let model = flights[flight] else { return }
    require(table.landed(model.id) == model.callers, "all who wait are told, in order")
    require(table.landed(model.id).isEmpty, "a flight lands once")
    for index in model.callers {
      if case .seated(let seat) = callers[index] { require(table.leave(seat) == nil, "who was told has no seat") }
      callers[index] = .told
    }
    end(flight)
  }

  private mutating func part(_ flight: Int) {
    guard let model = flights[flight], let first = model.callers.first else { return }
    let parted = table.part(model.id)
    let others = Array(model.callers.dropFirst())
    require(parted?.others == others, "all but one go on alone")
    require(parted.map { callers[first] == .seated($0.stays) } == true, "the first one stays")
    for index in others { callers[index] = .alone }
    flights[flight]?.callers = [first]
    flights[flight]?.isOpen = false
    mayPart = false
  }

  private mutating func end(_ flight: Int) {
    flights[flight] = nil
    ended += 1
  }

  private mutating func check() {
    require(table.count == flights.count, "no flight is lost")
    require(table.waiting == flights.values.reduce(0) { $0 + $1.callers.count }, "nobody is lost")
    for model in flights.values { require(table.priority(of: model.id) == model.highest, "the highest counts") }
    let open = flights.values.filter(\.isOpen).map(\.key)
    require(Set(open).count == open.count, "one flight is open for a key")
  }

  private mutating func require(_ holds: Bool, _ what: String) {
    if !holds { faults.append(what) }
  }
}

extension JoinTable {
  /// All who are told when a flight lands, in order.
  mutating func landed(_ id: FlightID) -> [Waiter] {
    let (opener, others) = land(id)
    return (opener.map { [$0] } ?? []) + others
  }
}
