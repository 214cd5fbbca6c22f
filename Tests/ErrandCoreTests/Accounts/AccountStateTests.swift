@testable import ErrandCore
import Testing

/// The accounts that are logged in, without any I/O.
struct AccountStateTests {
  private let old = AccountCredential(.bearer("old"), refreshToken: "r")
  private let new = AccountCredential(.bearer("new"))

  private func state(_ names: String...) -> AccountState {
    var state = AccountState(KeptAccounts())
    for name in names { state.login(name, old) }
    return state
  }

  @Test func `last login becomes current account`() {
    let state = state("ada", "bob")
    #expect(state.kept.current == "bob" && state.kept.credentials.count == 2)
  }

  @Test(arguments: [("ada", true, "ada"), ("eve", false, "bob"), (nil, true, nil)])
  func `only a logged-in account is usable`(name: String?, works: Bool, present: String?) {
    var state = state("ada", "bob")
    let isUsed = state.use(name)
    #expect(isUsed == works && state.kept.current == present)
  }

  @Test func `login events keep their order`() {
    var state = state("ada")
    #expect(state.takePendingChanges(isNext: false) == [.loggedIn("ada")])
    state.login("bob", old)
    _ = state.logout("ada")
    let elsewhere = state.takePendingChanges(isNext: false)
    #expect(elsewhere == nil, "another thread is delivering the events")
    #expect(state.takePendingChanges(isNext: true) == [.loggedIn("bob"), .loggedOut("ada")])
    let more = state.takePendingChanges(isNext: true)
    #expect(more == nil)
    _ = state.use(nil)
    #expect(state.takePendingChanges(isNext: false) == [.switched(to: nil)])
  }

  @Test func `stored name without credential is ignored`() {
    #expect(AccountState(KeptAccounts(current: "ada")).kept.current == nil)
  }

  @Test func `logout leaves another account or none`() {
    var state = state("ada", "bob")
    let first = state.logout("ada")
    #expect(first?.account == "ada" && state.kept.current == "bob")
    let (second, third) = (state.logout("bob"), state.logout("bob"))
    #expect(second != nil && third == nil && state.kept.current == nil && state.kept.credentials.isEmpty)
  }

  @Test func `old credential lasts during logout hook`() throws {
    var state = state("ada")
    let ended = state.logout("ada")
    let logout = try #require(ended)
    #expect(state.credential(for: "ada", duringLogout: true) == .bearer("old"))
    state.login("ada", new)
    #expect(state.credential(for: "ada", duringLogout: true) == .bearer("old"))
    #expect(state.credential(for: "ada", duringLogout: false) == .bearer("new"))
    state.end(logout)
    #expect(state.credential(for: "ada", duringLogout: true) == .bearer("new"))
  }

  @Test func `older logout keeps a newer session`() throws {
    var state = state("ada")
    let ended = state.logout("ada")
    let first = try #require(ended)
    state.login("ada", new)
    let endedAgain = state.logout("ada")
    let second = try #require(endedAgain)
    state.end(first)
    #expect(state.credential(for: "ada", duringLogout: true) == .bearer("new"))
    state.end(second)
    #expect(state.credential(for: "ada", duringLogout: true) == nil)
  }

  @Test func `login or second logout supersedes a logout`() throws {
    var state = state("ada")
    let ended = state.logout("ada")
    let first = try #require(ended)
    #expect(!state.isSuperseded(first))
    state.login("bob", new)
    #expect(!state.isSuperseded(first), "another account does not matter")
    state.login("ada", new)
    #expect(state.isSuperseded(first))
    let endedAgain = state.logout("ada")
    let second = try #require(endedAgain)
    #expect(state.isSuperseded(first) && !state.isSuperseded(second))
  }

  @Test func `refreshed credential needs same session`() {
    var state = state("ada")
    let first = state.refresh("ada", from: old, to: new)
    #expect(first && state.kept.credentials["ada"] == new)
    let second = state.refresh("ada", from: old, to: new)
    #expect(!second, "the credential was already replaced")
    _ = state.logout("ada")
    let third = state.refresh("ada", from: new, to: old)
    #expect(!third && state.kept.credentials.isEmpty)
  }

  @Test func `account is found by its credential`() {
    let state = state("ada")
    #expect(state.owner(of: .bearer("old")) == old && state.owner(of: .bearer("x")) == nil)
  }
}
