@testable import ErrandCore
import Testing

/// The moments at which sessions ended.
struct SessionBookTests {
  @Test func `logout ends only earlier sessions`() {
    var book = SessionBook()
    let before = book.moment
    book.end("ada")
    #expect(book.hasEnded("ada", since: before) && !book.hasEnded("bob", since: before))
    #expect(!book.hasEnded("ada", since: book.moment))
    book.end("bob")
    #expect(book.hasEnded("ada", since: before) && !book.hasEnded("ada", since: 1))
  }

  @Test func `forgotten session counts as ended`() {
    var book = SessionBook()
    for number in 0...SessionBook.limit { book.end("\(number)") }
    #expect(book.hasEnded("0", since: 0) && !book.hasEnded("0", since: 1))
    #expect(!book.hasEnded("never", since: 1) && book.hasEnded("1", since: 1))
  }
}
