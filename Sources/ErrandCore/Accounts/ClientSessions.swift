import ErrandSupport

/// Ends the login sessions of accounts on one client: cancels the calls of an account, and removes its stored responses
/// and its cookies.
package final class ClientSessions: Sendable {
  private struct Belongings: Sendable {
    /// Every cache that the client has used. A cache that the client no longer uses may still contain responses.
    var caches: [any AccountCache] = []
    /// The cookie jars that the client uses or has used. The references are weak, so that an unused jar can be
    /// deallocated.
    var jars = WeakList<CookieJars>()
    var refreshing = WeakList<RefreshControl>()
    var accessories: [any Accessory] = []
  }

  /// Cancels the running calls of an account. Returns the number of calls that end as cancelled.
  private let cancelCalls: @Sendable (_ account: String) -> Int
  private let refreshing: RefreshControl
  private let sessionEnds = Locked(SessionEndTable())
  private let belongings = Locked(Belongings())

  init(_ refreshing: RefreshControl, cancelCalls: @escaping @Sendable (_ account: String) -> Int) {
    self.refreshing = refreshing
    self.cancelCalls = cancelCalls
  }

  /// Registers the cache, the cookie jars, the refresh control and the accessories that the client uses from now on.
  /// Returns objects that were registered before. The caller must keep the returned objects until it has released all
  /// locks, because their `deinit` may run code of the app.
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

  /// Returns the account that is logged in, for a request that is about to be frozen (see ``Freezing``). Stores the
  /// account in the flags of the call. Returns nil if no account is logged in.
  ///
  /// If the session of the account ends before the account is stored, this method throws an error. If the session ends
  /// later, `stop(_:)` finds the call by the stored account and cancels the call.
  func account(of provider: any CredentialProvider, _ flags: CallFlags) throws -> String? {
    let moment = sessionEnds.withLock { $0.moment }
    guard let account = provider.account else { return nil }
    flags.add(account: account)
    if sessionEnds.withLock({ $0.hasEnded(account, since: moment) }) { throw APIError.loggedOut }
    return account
  }

  // MARK: - The end of a session

  /// Cancels all calls of an account, and removes the stored responses of the account. The cookies of the account
  /// remain for the call that notifies the server of the logout. Returns the number of cancelled calls.
  func end(_ account: String) async -> Int {
    let count = stop(account)
    notifyEnd(of: account)
    await removeStored(of: account)
    return count
  }

  /// Notifies the accessories of the client that the session of an account has ended.
  func notifyEnd(of account: String) {
    for accessory in belongings.withLock({ $0.accessories }) { accessory.sessionEnded(of: account) }
  }

  /// Cancels the calls of an account and the running refreshes of its credential. Returns the number of cancelled
  /// calls.
  @discardableResult
  func stop(_ account: String) -> Int {
    sessionEnds.withLock { $0.end(account) }
    // Calls are cancelled first, so that a call that waits for a refresh does not continue with its old credential.
    let count = cancelCalls(account)
    for control in [refreshing] + belongings.withLock({ $0.refreshing.objects }) { control.end(account) }
    return count
  }

  /// Removes the cookies of an account, also from cookie jars that the client used before. If `account` is nil, removes
  /// the cookies of calls without an account.
  func forgetCookies(_ account: String?) {
    for jars in belongings.withLock({ $0.jars.objects }) { jars.remove(of: account) }
  }

  /// Removes everything that the client stores for an account: responses and cookies.
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
    .cancelled, .loggedOut,
    "The call was cancelled, because its account was logged out; log in and start the call again.")

  /// The error of a call that was started for one account, but would have been sent after another account became
  /// current.
  static let otherAccount = APIError(
    .cancelled, .loggedOut,
    "The call was not sent, because it was started for an account that is no longer the current account; start the"
      + " call again.")
}

/// A cache that stores the responses of each account separately.
package protocol AccountCache: AnyObject, Sendable {
  /// Removes all stored responses of an account.
  func removeAll(account: String) async
}

/// Records when login sessions ended. A call uses this record to find out whether its account was logged out while the
/// request of the call was being prepared. Such a call fails.
struct SessionEndTable: Sendable {
  static var limit: Int { 1_000 }

  /// The number of sessions that have ended on the client. The number serves as a clock: it shows which of two events
  /// was earlier.
  private(set) var moment: UInt64 = 0
  private var ended: [ByteText: UInt64] = [:]
  /// The value of `moment` at the latest session end that is no longer in `ended`. The size of `ended` is limited, so
  /// the oldest session ends are removed. An account that is missing in `ended` is assumed to have logged out at this
  /// moment.
  private var forgotten: UInt64 = 0

  mutating func end(_ account: String) {
    moment &+= 1
    ended[ByteText(account)] = moment
    guard ended.count > Self.limit, let oldest = ended.min(by: { $0.value < $1.value }) else { return }
    forgotten = oldest.value
    ended[oldest.key] = nil
  }

  /// True if a session of the account ended after `moment`. Also true if this is unknown, because old session ends were
  /// removed from the table.
  func hasEnded(_ account: String, since moment: UInt64) -> Bool { (ended[ByteText(account)] ?? forgotten) > moment }
}
