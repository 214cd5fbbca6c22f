@testable import ErrandCore
import Testing

struct CallFlagsTests {
  private let flags = CallFlags()

  @Test func `a call joins one exchange at a time`() {
    #expect(flags.join() && !flags.join())
    flags.leave()
    #expect(flags.join())
  }

  @Test func `a credential is refreshed once`() {
    #expect(!flags.isRefreshed && flags.takeRefresh(of: .bearer("old")) && flags.isRefreshed)
    #expect(flags.takeRefresh(of: .bearer("old")), "another request of the call was sent with the same credential")
    #expect(!flags.takeRefresh(of: .bearer("new")))
  }

  @Test func `an exchange inherits the refresh alone`() {
    #expect(flags.join() && flags.takeRefresh(of: .bearer("old")))
    flags.cookies = "a=1"
    flags.isMaybeOfAnotherAccount = true
    let exchange = CallFlags()
    exchange.inherit(from: flags)
    #expect(exchange.isRefreshed && exchange.join() && exchange.cookies == nil && !exchange.isMaybeOfAnotherAccount)
    let other = CallFlags()
    other.inherit(from: CallFlags())
    #expect(!other.isRefreshed)
  }

  @Test func `a logout ends calls of its account`() {
    flags.add(account: "e\u{301}")
    flags.add(account: "ada")
    #expect(!flags.logOut("\u{e9}") && !flags.isLoggedOut, "accounts are compared byte by byte")
    #expect(flags.logOut("ada") && flags.isLoggedOut)
  }
}
