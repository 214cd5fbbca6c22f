import ErrandSupport

/// The state by which interceptors make decisions, for one call or one shared exchange. Metrics are in ``CallRecord``.
package final class CallFlags: Sendable {
  private struct State: Sendable {
    var isJoined = false
    var isRefreshed = false
    var cookies: String?
    /// The accounts of the requests that the call has sent. There are several if an interceptor sent more than one
    /// request.
    var accounts: [String] = []
    var isLoggedOut = false
    var isMaybeOfAnotherAccount = false
  }

  private let state = Locked(State())

  /// Sets `isRefreshed` if it is set in `other`. A call and its shared exchange pass the flag to each other in this
  /// way, so that the credential is refreshed only once for both.
  func inherit(from other: CallFlags) {
    if other.isRefreshed { state.withLock { $0.isRefreshed = true } }
  }

  // MARK: - Shared exchanges

  /// Returns true if the call may join a shared exchange now. Then returns false until ``leave()`` is called: an
  /// interceptor that sends a call several times concurrently expects several exchanges.
  func join() -> Bool {
    state.withLock { state in
      defer { state.isJoined = true }
      return !state.isJoined
    }
  }

  /// Records that the call has left its shared exchange.
  func leave() { state.withLock { $0.isJoined = false } }

  // MARK: - Credentials and cookies

  /// Returns true if the credential may be refreshed for the call now. Only the first call of this method returns true.
  func takeRefresh() -> Bool {
    state.withLock { state in
      defer { state.isRefreshed = true }
      return !state.isRefreshed
    }
  }

  /// Whether the credential was refreshed for the call.
  var isRefreshed: Bool { state.withLock { $0.isRefreshed } }

  /// The cookies that the cookie jar supplied for the exchange that began last.
  var cookies: String? {
    get { state.withLock { $0.cookies } }
    set { state.withLock { $0.cookies = newValue } }
  }

  /// Whether the credential that is sent may belong to another account than the call.
  var isMaybeOfAnotherAccount: Bool {
    get { state.withLock { $0.isMaybeOfAnotherAccount } }
    set { state.withLock { $0.isMaybeOfAnotherAccount = newValue } }
  }

  // MARK: - The session

  /// Records the account of a request that the call is about to send.
  func add(account: String) {
    state.withLock { if !$0.accounts.containsBytes(of: account) { $0.accounts.append(account) } }
  }

  /// Records that the session of an account has ended. Returns true if the call used this account; the call then ends
  /// as logged out.
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
