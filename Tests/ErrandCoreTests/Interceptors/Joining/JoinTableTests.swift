@testable import ErrandCore
import Testing

/// The callers that share an exchange, as a state machine: every interleaving of three callers, and each rule in a
/// separate test.
struct JoinTableTests {
  typealias Table = JoinWorld.Table

  private static let red = JoinWorld.origin
  private static let blue = HTTPURL.Origin.test("http://blue.example")

  @Test(arguments: [["a", "a", "a"], ["a", "a", "b"]])
  func `every interleaving answers callers once`(keys: [String]) {
    var (orders, faults) = (0, Set<String>())
    explore(JoinWorld(keys), &orders, &faults)
    #expect(faults.isEmpty)
    #expect(orders > 500)
  }

  private func explore(_ world: JoinWorld, _ orders: inout Int, _ faults: inout Set<String>) {
    let events = world.events
    for event in events {
      var next = world
      next.play(event)
      explore(next, &orders, &faults)
    }
    guard events.isEmpty else { return }
    var world = world
    world.checkEnd()
    faults.formUnion(world.faults)
    orders += 1
  }

  // MARK: - One test for each rule

  private func exchange(_ table: inout Table, _ key: String, at origin: HTTPURL.Origin = red, _ number: Int) -> Int {
    table.join(key, at: origin, 0, .normal) { number }.exchange
  }

  @Test func `write closes only its own origin`() {
    var table = Table()
    #expect(exchange(&table, "red", 1) == 1)
    #expect(exchange(&table, "blue", at: Self.blue, 2) == 2)
    table.close(Self.red)
    #expect(exchange(&table, "red", 3) == 3)
    #expect(exchange(&table, "blue", at: Self.blue, 4) == 2)
    #expect(exchange(&table, "red", 5) == 3, "a call joins an exchange that started after the write")
  }

  @Test func `abandoned exchange is removed when it ends`() {
    var table = Table()
    let membership = table.join("a", at: Self.red, 0, .normal) { 1 }
    #expect(!table.isIdle)
    #expect(table.leave(membership.member)?.isLast == true)
    #expect(table.count == 0 && !table.isIdle)
    _ = table.finish(membership.member.exchange)
    #expect(table.isIdle)
  }

  @Test func `many written origins close all exchanges`() {
    var table = Table()
    _ = exchange(&table, "blue", at: Self.blue, 1)
    for number in 0..<65 { table.close(.test("http://h\(number).example")) }
    #expect(exchange(&table, "blue", at: Self.blue, 2) == 2, "more origins were written than the table remembers")
    table.close(Self.red)
    #expect(exchange(&table, "blue", at: Self.blue, 3) == 2)
  }

  @Test func `write without running exchange is ignored`() {
    var table = Table()
    table.close(Self.red)
    #expect(exchange(&table, "a", 1) == 1)
    #expect(exchange(&table, "a", 2) == 1)
  }

  @Test func `closed exchange answers only its callers`() {
    var table = Table()
    let first = table.join("a", at: Self.red, 7, .normal) { 1 }
    table.close(Self.red)
    let second = table.join("a", at: Self.red, 8, .normal) { 2 }
    #expect(table.finished(first.member.exchange) == [7])
    #expect(table.join("a", at: Self.red, 9, .normal) { 3 }.exchange == 2)
    #expect(table.finished(second.member.exchange) == [8, 9])
  }

  @Test func `exchange about to stop takes no call`() {
    var table = Table()
    let first = table.join("a", at: Self.red, 7, .normal) { 1 }
    table.close(first.member.exchange)
    #expect(exchange(&table, "a", 2) == 2)
    #expect(table.leave(first.member)?.isLast == true)
    table.close(first.member.exchange)
    #expect(exchange(&table, "a", 3) == 2, "the second exchange stays open")
  }

  @Test func `priority change reaches the exchange`() {
    var table = Table()
    let first = table.join("a", at: Self.red, 0, .low) { 1 }
    let second = table.join("a", at: Self.red, 1, .low) { 2 }
    #expect(table.change(second.member, to: .high)?.priority == .high)
    #expect(table.change(first.member, to: .normal) == nil, "the priority is already high")
    #expect(table.leave(second.member)?.priority == .normal)
    #expect(table.change(second.member, to: .high) == nil)
    #expect(table.change(first.member, to: .low)?.priority == .low)
    #expect(table.priority(of: first.member.exchange) == .low)
  }

  @Test func `identifiers of finished exchanges are ignored`() {
    var table = Table()
    let old = table.join("a", at: Self.red, 0, .normal) { 1 }
    _ = table.finished(old.member.exchange)
    let new = table.join("a", at: Self.red, 1, .normal) { 2 }
    #expect(table.leave(old.member) == nil)
    #expect(table.finished(old.member.exchange).isEmpty)
    #expect(table.split(old.member.exchange) == nil)
    #expect(table.finished(new.member.exchange) == [1])
    #expect(table.count == 0)
  }

  @Test func `a thousand callers are answered in order`() {
    var table = Table()
    let members = (0..<1_000).map { number in table.join("a", at: Self.red, number, .normal) { 1 }.member }
    for member in members.prefix(500) { _ = table.leave(member) }
    #expect(table.finished(members[0].exchange) == Array(500..<1_000))
  }
}
