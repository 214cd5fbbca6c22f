import ErrandSupport

/// A client's part in the end of a session: its calls, its queue, its cache.
package final class ClientSessions: Sendable {
  private struct Belongings: Sendable {
    /// Every cache that the client has used: what an earlier one holds is still there.
    var caches: [any AnswerCache] = []
    /// All that the client has used and that are still there.
    var jars = WeakList<CookieJars>()
    var refreshing = WeakList<RefreshControl>()
    var accessories: [any Accessory] = []
  }

  private let registry: CallRegistry
  private let refreshing: RefreshControl
  private let book = Locked(SessionBook())
  private let belongings = Locked(Belongings())

  init(_ registry: CallRegistry, _ refreshing: RefreshControl) {
    self.registry = registry
    self.refreshing = refreshing
  }

  /// What the client has from now on. Returns what was held meanwhile, to be let go behind all locks.
  func take(
    cache: (any AnswerCache)?, cookies: CookieRule, refreshing: RefreshControl?, accessories: [any Accessory]
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

  // MARK: - A call

  /// The account of a call that is about to be frozen, noted with the call.
  ///
  /// A session that ends before the note is seen here, one that ends after it finds the call by its note.
  func account(of provider: any CredentialProvider, _ record: CallRecord) throws -> String? {
    let moment = book.withLock { $0.moment }
    guard let account = provider.account else { return nil }
    record.goes(as: account)
    if book.withLock({ $0.hasEnded(account, since: moment) }) { throw APIError.loggedOut }
    return account
  }

  // MARK: - The end of a session

  /// Cancels what is under way for an account, wherever it waits, and removes what is stored of it. Its cookies stay
  /// for the call that tells the server.
  func end(_ account: String) async -> Int {
    let count = stop(account)
    tellEnd(of: account)
    await removeStored(of: account)
    return count
  }

  /// Tells the accessories.
  func tellEnd(of account: String) {
    for accessory in belongings.withLock({ $0.accessories }) { accessory.sessionEnded(of: account) }
  }

  /// Cancels what is under way for an account.
  @discardableResult
  func stop(_ account: String) -> Int {
    book.withLock { $0.end(account) }
    // In this order: who waits for a refresh must not go on with what it has.
    let count = registry.cancel(account: account)
    for control in [refreshing] + belongings.withLock({ $0.refreshing.objects }) { control.end(account) }
    return count
  }

  /// Removes the cookies of an account, or of nobody, also where the client kept them before.
  func forgetCookies(_ account: String?) {
    for jars in belongings.withLock({ $0.jars.objects }) { jars.remove(of: account) }
  }

  /// Removes what is stored of an account, its cookies too.
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

  /// The error of a call that was begun for one account, and whose turn came when another one was present, or nobody.
  static let otherAccount = APIError(
    .cancelled, .loggedOut,
    "The call was not sent, since it was begun for another account than the present one; begin it again.")
}

extension APIClient {
  /// Who is logged in; nil for nobody, and without a provider.
  package var presentAccount: String? { snapshot.configuration.credentials?.account }
}

extension APIClient {
  /// Ends an account's session on this client, for credential providers of your own;
  /// ``CredentialStore/logout(_:farewell:)`` does it by itself.
  ///
  /// Cancels the calls that were begun for the account, with an error of code ``APIError/Code/loggedOut``, and ends
  /// refreshing for it; removes what every cache that the client has used holds of the account, and its cookie jar;
  /// tells the client's accessories. Let the provider give another account first, or calls begun meanwhile go on as the
  /// old one. Returns how many calls will now end as cancelled.
  @discardableResult
  public func endSession(of account: String) async -> Int {
    let count = await fittings.sessions.end(account)
    await fittings.sessions.forget(account)
    return count
  }
}

/// When sessions of accounts ended, so that no call goes on for an account that was logged out as it was frozen.
struct SessionBook: Sendable {
  static var limit: Int { 1_000 }

  /// Grows with each session that ends.
  private(set) var moment: UInt64 = 0
  private var ended: [ByteText: UInt64] = [:]
  /// What is forgotten ended at this moment or before.
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
