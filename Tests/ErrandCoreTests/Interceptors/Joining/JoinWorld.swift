@testable import ErrandCore

/// A ``JoinTable`` together with a naive model of the same rules.
struct JoinWorld {
  typealias Table = JoinTable<String, Int, Int>

  /// The state of one caller.
  enum Caller: Hashable { case outside, joined(Table.MemberID), finished, left, alone }

  /// The events that can happen next.
  enum Event { case join(Int), leave(Int), finish(Int), split(Int), close }

  /// The expected state of a shared exchange.
  private struct Model {
    let id: Table.ExchangeID
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
  private var exchanges: [Int: Model] = [:]
  private var opened = 0
  private var ended = 0
  private var mayClose = true
  private var maySplit = true

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
      case .joined: events.append(.leave(index))
      case .finished, .left, .alone: break
      }
    }
    if events.isEmpty { return [] }
    for exchange in exchanges.keys {
      events.append(.finish(exchange))
      if maySplit { events.append(.split(exchange)) }
    }
    return mayClose ? events + [.close] : events
  }

  mutating func play(_ event: Event) {
    switch event {
    case .join(let index): join(index)
    case .leave(let index): leave(index)
    case .finish(let exchange): finish(exchange)
    case .split(let exchange): split(exchange)
    case .close:
      mayClose = false
      table.close(Self.origin)
      for exchange in exchanges.keys { exchanges[exchange]?.isOpen = false }
    }
    check()
  }

  /// Checks the table after all callers are gone.
  mutating func checkEnd() {
    require(table.count == 0 && table.waiting == 0, "the table is empty")
    require(ended == opened, "each shared exchange ends once")
    require(callers.allSatisfy { [.finished, .left, .alone].contains($0) }, "each caller ends")
  }

  private mutating func join(_ index: Int) {
    let key = keys[index]
    let open = exchanges.first { $0.value.isOpen && $0.value.key == key }?.key
    let number = opened + 1
    let membership = table.join(key, at: Self.origin, index, Self.priorities[index]) { number }
    require(membership.startsExchange == (open == nil), "an exchange opens only if none is open")
    require(membership.exchange == open ?? number, "no caller joins a closed or finished exchange")
    if membership.startsExchange {
      opened = number
      exchanges[number] = Model(id: membership.member.exchange, key: key)
    }
    let before = exchanges[membership.exchange]?.highest
    exchanges[membership.exchange]?.callers.append(index)
    let now = exchanges[membership.exchange]?.highest
    require(
      membership.priority == (membership.startsExchange || now == before ? nil : now),
      "the priority of the exchange rises")
    callers[index] = .joined(membership.member)
  }

  private mutating func leave(_ index: Int) {
    guard case .joined(let member) = callers[index],
      let exchange = exchanges.first(where: { $0.value.callers.contains(index) })?.key
    else { return require(false, "a member has an exchange") }
    let before = exchanges[exchange]?.highest
    exchanges[exchange]?.callers.removeAll { $0 == index }
    let now = exchanges[exchange]?.highest
    let departure = table.leave(member)
    require(departure?.exchange == exchange, "a caller leaves its own exchange")
    require(departure?.isLast == (now == nil), "the last caller to leave ends the exchange")
    require(departure?.priority == (now == before ? nil : now), "the priority of the exchange falls")
    require(table.leave(member) == nil, "a caller can leave only once")
    callers[index] = .left
    if now == nil { end(exchange) }
  }

  private mutating func finish(_ exchange: Int) {
    guard let model = exchanges[exchange] else { return }
    require(table.finished(model.id) == model.callers, "all waiting callers are answered, in order")
    require(table.finished(model.id).isEmpty, "an exchange finishes once")
    for index in model.callers {
      if case .joined(let member) = callers[index] {
        require(table.leave(member) == nil, "a finished exchange has no member")
      }
      callers[index] = .finished
    }
    end(exchange)
  }

  private mutating func split(_ exchange: Int) {
    guard let model = exchanges[exchange], let first = model.callers.first else { return }
    let split = table.split(model.id)
    let others = Array(model.callers.dropFirst())
    require(split?.others == others, "all callers but one continue separately")
    require(split.map { callers[first] == .joined($0.stays) } == true, "the first caller keeps the exchange")
    for index in others { callers[index] = .alone }
    exchanges[exchange]?.callers = [first]
    exchanges[exchange]?.isOpen = false
    maySplit = false
  }

  private mutating func end(_ exchange: Int) {
    exchanges[exchange] = nil
    ended += 1
  }

  private mutating func check() {
    require(table.count == exchanges.count, "no exchange is lost")
    require(table.waiting == exchanges.values.reduce(0) { $0 + $1.callers.count }, "no caller is lost")
    for model in exchanges.values { require(table.priority(of: model.id) == model.highest, "the highest counts") }
    let open = exchanges.values.filter(\.isOpen).map(\.key)
    require(Set(open).count == open.count, "a key has at most one open exchange")
  }

  private mutating func require(_ holds: Bool, _ what: String) {
    if !holds { faults.append(what) }
  }
}

extension JoinTable {
  /// All callers that are answered when an exchange finishes, in order.
  mutating func finished(_ id: ExchangeID) -> [Waiter] {
    let (initiator, others) = finish(id)
    return (initiator.map { [$0] } ?? []) + others
  }
}
