@testable import ErrandCore
import Testing

/// The rules for repeated requests as a state machine.
struct RepeatTableTests {
  typealias Table = RepeatTable<Int>

  private static let kind = Table.Kind(type: ObjectIdentifier(Int.self), owner: nil)

  private struct Entered: Equatable {
    var ends: [Int] = []
    var rejectedBy: Int?
  }

  private func enter(
    _ table: inout Table, _ member: Int, _ rule: RepeatRule, _ kind: Table.Kind = kind, ending: Set<Int> = []
  ) -> (Entered?, Table.Ticket?) {
    switch table.enter(kind, rule, member, isEnding: ending.contains) {
    case .proceeds(let ticket, let ending)?: (Entered(ends: ending), ticket)
    case .rejected(let other)?: (Entered(rejectedBy: other), nil)
    case nil: (nil, nil)
    }
  }

  @Test func `run all stores nothing`() {
    var table = Table()
    #expect(enter(&table, 1, .runAll).0 == nil)
    #expect(table.count == 0)
  }

  @Test func `newer call cancels all earlier ones`() {
    var table = Table()
    for member in 1...3 { #expect(enter(&table, member, .cancelPrevious).0?.ends == Array(1..<member)) }
  }

  @Test func `new call is rejected while one runs`() {
    var table = Table()
    let (entered, ticket) = enter(&table, 1, .ignoreNew)
    #expect(entered == Entered())
    #expect(enter(&table, 2, .ignoreNew).0 == Entered(rejectedBy: 1))
    if let ticket { table.leave(ticket) }
    #expect(enter(&table, 3, .ignoreNew).0 == Entered())
    #expect(table.count == 1, "a rejected call is not stored")
  }

  @Test func `ending call does not block a new call`() {
    var table = Table()
    _ = enter(&table, 1, .ignoreNew)
    #expect(enter(&table, 2, .ignoreNew, ending: [1]).0 == Entered())
    #expect(enter(&table, 3, .ignoreNew, ending: [1]).0 == Entered(rejectedBy: 2))
  }

  @Test func `debounce cancels all earlier calls`() {
    var table = Table()
    let rule = RepeatRule.debounce(.seconds(1))
    #expect(enter(&table, 1, .ignoreNew).0 == Entered())
    let (first, ticket) = enter(&table, 2, rule)
    #expect(first == Entered(ends: [1]), "a call that runs without a pause")
    #expect(enter(&table, 3, rule).0 == Entered(ends: [1, 2]), "calls that have not ended")
    if let ticket { table.leave(ticket) }
    #expect(enter(&table, 4, .cancelPrevious).0 == Entered(ends: [1, 3]))
    #expect(enter(&table, 5, rule).0 == Entered(ends: [1, 3, 4]))
  }

  @Test func `types and owners are independent`() {
    var table = Table()
    let kinds = [Int.self, String.self].flatMap { (type: Any.Type) in
      [nil, 1, 2].map { Table.Kind(type: ObjectIdentifier(type), owner: $0) }
    }
    for (member, kind) in kinds.enumerated() { #expect(enter(&table, member, .ignoreNew, kind).0 == Entered()) }
    for (member, kind) in kinds.enumerated() {
      #expect(enter(&table, 9, .ignoreNew, kind).0 == Entered(rejectedBy: member))
    }
  }

  @Test func `table is empty after all calls`() {
    var table = Table()
    let tickets = (0..<4).map { enter(&table, $0, $0 % 2 == 0 ? .cancelPrevious : .debounce(.zero)).1 }
    #expect(table.count == 4)
    for ticket in tickets.compactMap({ $0 }).reversed() {
      #expect(table.leave(ticket) != nil)
      #expect(table.leave(ticket) == nil)
    }
    #expect(table.count == 0)
  }
}
