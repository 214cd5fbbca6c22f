@testable import ErrandCore

/// A ``JoinTable`` together with a naive model of the same rules.
struct JoinWorld {
  typealias Table = JoinTable<String, Int, Int>

  /// The state of one caller.
  enum Caller: Hashable { case outside, seated(Table.Seat), told, left, alone }

  /// The events that can happen next.
  enum Event { case join(Int), leave(Int), land(Int), part(Int), close }

  /// The expected state of a shared exchange.
  private struct Model {
    let id: Table.FlightID
    let key: String
    var isOpen = true
    var callers: [Int] = []

    var highest: CallPriority? { callers.map { JoinWorld.priorities[$0] }.max() }
  }

  static let origin = HTTPURL.Origin.test("http://red.example")
  private static let priorities: [CallPriority] = [.low, .high, .normal]

  /// The differences between the table and the model.
  private(set) var faults: [String] = []

  private let keys: [String]
  private var table = Table()
  private var callers: [Caller]
  private var flights: [Int: Model] = [:]
  private var opened = 0
  private var ended = 0
  private var mayClose = true
  private var mayPart = true

  /// - Parameter keys: The key that each caller requests.
  init(_ keys: [String]) {
    self.keys = keys
    callers = keys.map { _ in .outside }
  }

  /// All events that are possible next; none after each caller has joined and left.
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

  /// Checks the table after all callers are gone.
  mutating func finish() {
    require(table.count == 0 && table.waiting == 0, "the table is empty")
    require(ended == opened, "each shared exchange ends once")
    require(callers.allSatisfy { [.told, .left, .alone].contains($0) }, "each caller ends")
  }

  private mutating func join(_ index: Int) {
    let key = keys[index]
    let open = flights.first { $0.value.isOpen && $0.value.key == key }?.key
    let number = opened + 1
    let boarding = table.join(key, at: Self.origin, index, Self.priorities[index]) { number }
    require(boarding.opens == (open == nil), "an exchange opens only if none is open")
    require(boarding.flight == open ?? number, "no caller joins a closed or finished exchange")
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
    else { return require(false, "a caller with a seat has an exchange") }
    let before = flights[flight]?.highest
    flights[flight]?.callers.removeAll { $0 == index }
    let now = flights[flight]?.highest
    let departure = table.leave(seat)
    require(departure?.flight == flight, "a caller leaves its own exchange")
    require(departure?.isLast == (now == nil), "the last caller to leave ends the exchange")
    require(departure?.priority == (now == before ? nil : now), "the flight falls")
    require(table.leave(seat) == nil, "a caller can leave only once")
    callers[index] = .left
    if now == nil { end(flight) }
  }

  private mutating func land(_ flight: Int) {
    guard let model = flights[flight] else { return }
    require(table.landed(model.id) == model.callers, "all waiting callers are answered, in order")
    require(table.landed(model.id).isEmpty, "an exchange finishes once")
    for index in model.callers {
      if case .seated(let seat) = callers[index] { require(table.leave(seat) == nil, "an answered caller has no seat") }
      callers[index] = .told
    }
    end(flight)
  }

  private mutating func part(_ flight: Int) {
    guard let model = flights[flight], let first = model.callers.first else { return }
    let parted = table.part(model.id)
    let others = Array(model.callers.dropFirst())
    require(parted?.others == others, "all callers but one continue separately")
    require(parted.map { callers[first] == .seated($0.stays) } == true, "the first caller keeps the exchange")
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
    require(table.count == flights.count, "no exchange is lost")
    require(table.waiting == flights.values.reduce(0) { $0 + $1.callers.count }, "no caller is lost")
    for model in flights.values { require(table.priority(of: model.id) == model.highest, "the highest counts") }
    let open = flights.values.filter(\.isOpen).map(\.key)
    require(Set(open).count == open.count, "a key has at most one open exchange")
  }

  private mutating func require(_ holds: Bool, _ what: String) {
    if !holds { faults.append(what) }
  }
}

extension JoinTable {
  /// All callers that are answered when an exchange finishes, in order.
  mutating func landed(_ id: FlightID) -> [Waiter] {
    let (opener, others) = land(id)
    return (opener.map { [$0] } ?? []) + others
  }
}
