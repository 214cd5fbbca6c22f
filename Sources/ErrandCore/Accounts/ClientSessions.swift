import ErrandSupport

/// What a client does when the login session of an account ends: it cancels calls, and removes stored responses and
/// cookies.
package final class ClientSessions: Sendable {
  private struct Belongings: Sendable {
    /// Every cache that the client has used. A cache that the client no longer uses may still contain responses.
    var caches: [any AccountCache] = []
    /// The cookie jars and refresh controls that the client has used and that still exist.
    var jars = WeakList<CookieJars>()
    var refreshing = WeakList<RefreshControl>()
    var accessories: [any Accessory] = []
  }

  /// Cancels the calls of an account. Returns the number of calls that end as cancelled.
  private let cancelCalls: @Sendable (_ account: String) -> Int
  private let refreshing: RefreshControl
  private let book = Locked(SessionBook())
  private let belongings = Locked(Belongings())

  init(_ refreshing: RefreshControl, cancelCalls: @escaping @Sendable (_ account: String) -> Int) {
    self.refreshing = refreshing
    self.cancelCalls = cancelCalls
  }

  /// Sets the objects that the client uses now. Returns objects that the caller must release outside of all locks.
  func take(
    cache: (any AccountCache)?, cookies: CookieRule, refreshing: RefreshControl?, accessories: [any Accessory]
  ) -> [any Sendable] {
    belongings.withLock { belongings in
      if let cache, !belongings.caches.contains(where: { $0 === cache }) { belongings.caches.append(cache) }
      var held: [any Sendable] = []
      if let jars = cookies.jars { held += belongings.jars.insert(jars) as [any Sendable] }
      if let refreshing { held += belongings.refreshing.insert(refreshing) as [any Sendable] }
      held += belongings.accessories as [any Sendable]
      belongings.accessories = accessories
      return held
    }
  }

  // MARK: - Calls

  /// The account for a request that is about to be fixed (frozen). The account is also stored in the flags of the call.
  ///
  /// If the session of the account ends before the account is stored, this method throws an error. If the session ends
  /// later, `stop(_:)` finds the call by the stored account and cancels the call.
  func account(of provider: any CredentialProvider, _ flags: CallFlags) throws -> String? {
    let moment = book.withLock { $0.moment }
    guard let account = provider.account else { return nil }
    flags.add(account: account)
    if book.withLock({ $0.hasEnded(account, since: moment) }) { throw APIError.loggedOut }
    return account
  }

  // MARK: - The end of a session

  /// Cancels all calls of an account, and removes the stored responses of the account. The cookies of the account
  /// remain for the call that notifies the server of the logout.
  func end(_ account: String) async -> Int {
    let count = stop(account)
    tellEnd(of: account)
    await removeStored(of: account)
    return count
  }

  /// Notifies the accessories of the client that the session of an account has ended.
  func tellEnd(of account: String) {
    for accessory in belongings.withLock({ $0.accessories }) { accessory.sessionEnded(of: account) }
  }

  /// Cancels the calls and refreshes of an account. Returns the number of cancelled calls.
  @discardableResult
  func stop(_ account: String) -> Int {
    book.withLock { $0.end(account) }
    // Calls are cancelled first, so that a call that waits for a refresh does not continue with its old credential.
    let count = cancelCalls(account)
    for control in [refreshing] + belongings.withLock({ $0.refreshing.objects }) { control.end(account) }
    return count
  }

  /// Removes the cookies of an account, also from cookie jars that the client used before. With nil, removes the
  /// cookies of calls without an account.
  func forgetCookies(_ account: String?) {
    for jars in belongings.withLock({ $0.jars.objects }) { jars.remove(of: account) }
  }

  /// Removes everything that is stored for an account, including its cookies.
  func forget(_ account: String) async {
    forgetCookies(account)
    await removeStored(of: account)
  }

  func removeStored(of account: String) async {
    await withTaskGroup(of: Void.self) { group in
      for cache in belongings.withLock({ $0.caches }) { group.addTask { await cache.removeAll(account: account) } }
    }
  }
}

extension APIError {
  /// The error of a call whose account was logged out.
  static let loggedOut = APIError(
    .cancelled, .loggedOut, "The call was cancelled, since its account was logged out; log in and send it again.")

  /// The error of a call that was started for one account, and ran after another account had become the current one.
  static let otherAccount = APIError(
    .cancelled, .loggedOut,
    "The call was not sent because it was started for an account that is not the current one; start it again.")
}

/// A cache that separates the responses of accounts.
package protocol AccountCache: AnyObject, Sendable {
  /// Removes all stored responses of an account.
  func removeAll(account: String) async
}

/// Records when login sessions ended. A call does not continue if its account was logged out while the request of the
/// call was being prepared.
struct SessionBook: Sendable {
  static var limit: Int { 1_000 }

  /// The current moment: a counter that grows with each session that ends.
  private(set) var moment: UInt64 = 0
  private var ended: [ByteText: UInt64] = [:]
  /// The sessions of accounts that were removed from `ended` had ended at this moment or before.
  private var forgotten: UInt64 = 0

  mutating func end(_ account: String) {
    moment &+= 1
    ended[ByteText(account)] = moment
    guard ended.count > Self.limit, let oldest = ended.min(by: { $0.value < $1.value }) else { return }
    forgotten = oldest.value
    ended[oldest.key] = nil
  }

  /// Whether a session of the account ended after a moment.
  func hasEnded(_ account: String, since moment: UInt64) -> Bool { (ended[ByteText(account)] ?? forgotten) > moment }
}
