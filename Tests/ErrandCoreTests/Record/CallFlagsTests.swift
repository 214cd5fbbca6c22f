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

  /// What happens to a call: bytes of its result arrive, or a server rejects the token with this number.
  enum Event: Sendable { case bytes, rejection(of: Int, refreshes: Bool) }

  @Test(
    arguments: [
      [.bytes, .rejection(of: 0, refreshes: true), .rejection(of: 1, refreshes: false)],
      [.rejection(of: 0, refreshes: true), .bytes, .rejection(of: 1, refreshes: true)],
      [
        .rejection(of: 0, refreshes: true), .bytes, .bytes, .rejection(of: 1, refreshes: true),
        .rejection(of: 2, refreshes: false), .bytes, .rejection(of: 2, refreshes: true),
      ],
      // Other requests were sent with the old token. They get the result of its refresh.
      [
        .rejection(of: 0, refreshes: true), .bytes, .rejection(of: 0, refreshes: true),
        .rejection(of: 1, refreshes: true), .rejection(of: 0, refreshes: true),
        .rejection(of: 2, refreshes: false),
      ],
    ] as [[Event]])
  func `progress allows another refresh`(events: [Event]) {
    for event in events {
      switch event {
      case .bytes: flags.noteProgress()
      case .rejection(let token, let refreshes):
        #expect(flags.takeRefresh(of: .bearer("\(token)")) == refreshes, "token \(token)")
      }
    }
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
