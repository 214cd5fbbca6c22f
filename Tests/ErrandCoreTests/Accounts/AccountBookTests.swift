@testable import ErrandCore
import Testing

/// The accounts that are logged in, without any I/O.
struct AccountBookTests {
  private let old = AccountCredential(.bearer("old"), refreshToken: "r")
  private let new = AccountCredential(.bearer("new"))

  private func book(_ names: String...) -> AccountBook {
    var book = AccountBook(KeptAccounts())
    for name in names { book.login(name, old) }
    return book
  }

  @Test func `last login becomes current account`() {
    let book = book("ada", "bob")
    #expect(book.kept.current == "bob" && book.kept.credentials.count == 2)
  }

  @Test(arguments: [("ada", true, "ada"), ("eve", false, "bob"), (nil, true, nil)])
  func `only a logged-in account is usable`(name: String?, works: Bool, present: String?) {
    var book = book("ada", "bob")
    let isUsed = book.use(name)
    #expect(isUsed == works && book.kept.current == present)
  }

  @Test func `login events keep their order`() {
    var book = book("ada")
    #expect(book.newsToTell(isNext: false) == [.loggedIn("ada")])
    book.login("bob", old)
    _ = book.logout("ada")
    let elsewhere = book.newsToTell(isNext: false)
    #expect(elsewhere == nil, "another thread is delivering the events")
    #expect(book.newsToTell(isNext: true) == [.loggedIn("bob"), .loggedOut("ada")])
    let more = book.newsToTell(isNext: true)
    #expect(more == nil)
    _ = book.use(nil)
    #expect(book.newsToTell(isNext: false) == [.switched(to: nil)])
  }

  @Test func `stored name without credential is ignored`() {
    #expect(AccountBook(KeptAccounts(current: "ada")).kept.current == nil)
  }

  @Test func `logout leaves another account or none`() {
    var book = book("ada", "bob")
    let first = book.logout("ada")
    #expect(first?.account == "ada" && book.kept.current == "bob")
    let (second, third) = (book.logout("bob"), book.logout("bob"))
    #expect(second != nil && third == nil && book.kept.current == nil && book.kept.credentials.isEmpty)
  }

  @Test func `old credential lasts during logout hook`() throws {
    var book = book("ada")
    let ended = book.logout("ada")
    let farewell = try #require(ended)
    #expect(book.credential(for: "ada", farewell: true) == .bearer("old"))
    book.login("ada", new)
    #expect(book.credential(for: "ada", farewell: true) == .bearer("old"))
    #expect(book.credential(for: "ada", farewell: false) == .bearer("new"))
    book.end(farewell)
    #expect(book.credential(for: "ada", farewell: true) == .bearer("new"))
  }

  @Test func `older logout keeps a newer session`() throws {
    var book = book("ada")
    let ended = book.logout("ada")
    let first = try #require(ended)
    book.login("ada", new)
    let endedAgain = book.logout("ada")
    let second = try #require(endedAgain)
    book.end(first)
    #expect(book.credential(for: "ada", farewell: true) == .bearer("new"))
    book.end(second)
    #expect(book.credential(for: "ada", farewell: true) == nil)
  }

  @Test func `refreshed credential needs same session`() {
    var book = book("ada")
    let first = book.refresh("ada", from: old, to: new)
    #expect(first && book.kept.credentials["ada"] == new)
    let second = book.refresh("ada", from: old, to: new)
    #expect(!second, "the credential was already replaced")
    _ = book.logout("ada")
    let third = book.refresh("ada", from: new, to: old)
    #expect(!third && book.kept.credentials.isEmpty)
  }

  @Test func `account is found by its credential`() {
    let book = book("ada")
    #expect(book.owner(of: .bearer("old")) == old && book.owner(of: .bearer("x")) == nil)
  }
}
