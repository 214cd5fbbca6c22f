import ErrandSupport

/// The flags of one call, or of one exchange that several calls share. Interceptors read the flags to make decisions.
/// The metrics of the call are in ``CallRecord``.
package final class CallFlags: Sendable {
  private struct State: Sendable {
    var isJoined = false
    var refresh = RefreshAllowance()
    var cookies: String?
    /// The accounts of the requests that the call has sent. The array has several entries if the call has sent requests
    /// for more than one account.
    var accounts: [String] = []
    var isLoggedOut = false
    var isDrained = false
    var isMaybeOfAnotherAccount = false
  }

  private let state = Locked(State())

  /// Copies from `other` which credential was refreshed, if any. A call passes this to its shared exchange and later
  /// copies it back from the exchange. So the call and the exchange together refresh the credential at most once.
  func inherit(from other: CallFlags) {
    let refresh = other.state.withLock { $0.refresh }
    if refresh.isUsed { state.withLock { $0.refresh = refresh } }
  }

  // MARK: - Shared exchanges

  /// Returns true if the call may join a shared exchange now. The following calls of this function return false until
  /// ``leave()`` is called. An interceptor that sends a request several times concurrently expects separate exchanges,
  /// so only the first of them is shared.
  func join() -> Bool {
    state.withLock { state in
      defer { state.isJoined = true }
      return !state.isJoined
    }
  }

  /// Records that the call no longer waits for its shared exchange. The call may then join another.
  func leave() { state.withLock { $0.isJoined = false } }

  // MARK: - Credentials and cookies

  /// Records that a credential is refreshed for this call. Returns false if the call may not refresh it
  /// (``RefreshAllowance``).
  func takeRefresh(of old: Credential) -> Bool { state.withLock { $0.refresh.take(old) } }

  /// Records that the call has received bytes of its result, so that it may refresh its credential again. Only a
  /// download calls this method, because it sends several requests, and its result may arrive over a longer time than
  /// a credential is valid.
  package func noteProgress() { state.withLock { $0.refresh.noteProgress() } }

  /// Whether a credential was refreshed for the call.
  var isRefreshed: Bool { state.withLock { $0.refresh.isUsed } }

  /// The cookies that the client's cookie jar supplied for the exchange that began last; nil if the jar supplied none.
  var cookies: String? {
    get { state.withLock { $0.cookies } }
    set { state.withLock { $0.cookies = newValue } }
  }

  /// True if the account of the credential provider changed while the provider supplied the credential. The credential
  /// may then belong to the new account, so the response must not be shared with other calls.
  var isMaybeOfAnotherAccount: Bool {
    get { state.withLock { $0.isMaybeOfAnotherAccount } }
    set { state.withLock { $0.isMaybeOfAnotherAccount = newValue } }
  }

  /// Whether the wait of an event stream between two connections ended because the client drains.
  var isDrained: Bool {
    get { state.withLock { $0.isDrained } }
    set { state.withLock { $0.isDrained = newValue } }
  }

  // MARK: - The session

  /// Records the account of a request that the call is about to send.
  func add(account: String) {
    state.withLock { if !$0.accounts.containsBytes(of: account) { $0.accounts.append(account) } }
  }

  /// Records that the session of an account has ended. Returns true if the call used this account. The caller then
  /// cancels the call, and the error of the call says that the account was logged out.
  func logOut(_ account: String) -> Bool {
    state.withLock { state in
      guard state.accounts.containsBytes(of: account) else { return false }
      state.isLoggedOut = true
      return true
    }
  }

  /// Whether the call ends because its account was logged out.
  var isLoggedOut: Bool { state.withLock { $0.isLoggedOut } }
}

/// Decides whether a call may refresh its credential: once, and once more after each refresh with which the call has
/// made progress. So a server that rejects every credential causes one refresh.
struct RefreshAllowance: Sendable {
  /// The credentials that the call has refreshed.
  private var refreshed: Set<Credential> = []
  /// Whether the call has received bytes of its result since the last refresh.
  private var hasProgressed = false

  /// Whether the call has refreshed a credential.
  var isUsed: Bool { !refreshed.isEmpty }

  /// Whether the call may refresh `old`, which was rejected. True for a credential that the call has already refreshed:
  /// a call may send several requests concurrently, and all of them need the result of the one refresh.
  mutating func take(_ old: Credential) -> Bool {
    if refreshed.isEmpty || hasProgressed && !refreshed.contains(old) {
      refreshed.insert(old)
      hasProgressed = false
    }
    return refreshed.contains(old)
  }

  /// Records that the call has received bytes of its result.
  mutating func noteProgress() { hasProgressed = isUsed }
}
