@testable import ErrandCore
import Testing

/// The moments at which sessions ended.
struct SessionEndTableTests {
  @Test func `logout ends only earlier sessions`() {
    var table = SessionEndTable()
    let before = table.moment
    table.end("ada")
    #expect(table.hasEnded("ada", since: before) && !table.hasEnded("bob", since: before))
    #expect(!table.hasEnded("ada", since: table.moment))
    table.end("bob")
    #expect(table.hasEnded("ada", since: before) && !table.hasEnded("ada", since: 1))
  }

  @Test func `forgotten session counts as ended`() {
    var table = SessionEndTable()
    for number in 0...SessionEndTable.limit { table.end("\(number)") }
    #expect(table.hasEnded("0", since: 0) && !table.hasEnded("0", since: 1))
    #expect(!table.hasEnded("never", since: 1) && table.hasEnded("1", since: 1))
  }
}
