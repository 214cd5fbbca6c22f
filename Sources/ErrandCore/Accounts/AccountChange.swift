import ErrandSupport

/// A change of the accounts in a ``CredentialStore``, such as a login.
public enum AccountChange: Sendable, Hashable {
  /// An account was logged in and is now the current account.
  case loggedIn(String)
  /// The app selected another current account. The value is the new current account; nil if no account is current now.
  case switched(to: String?)
  /// The credential of an account was refreshed.
  case refreshed(String)
  /// An account was logged out. Its running calls were cancelled, and no new call starts for the account. The only
  /// exceptions are the calls that notify the server of the logout.
  case loggedOut(String)
  /// The ``CredentialKeeper`` could not save a change of the accounts; the text gives the reason. The change remains in
  /// effect until the process ends.
  case notKept(String)
}

extension AccountChange {
  /// Whether two changes are of the same kind and have the same account name or reason. Texts are compared byte by
  /// byte.
  public static func == (left: AccountChange, right: AccountChange) -> Bool {
    left.parts.kind == right.parts.kind && left.parts.text.hasSameBytes(as: right.parts.text)
  }

  /// Hashes the kind of the change and the bytes of its account name or reason.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(parts.kind)
    hasher.combine(parts.text.map { ByteText($0) })
  }

  private var parts: (kind: Int, text: String?) {
    switch self {
    case .loggedIn(let account): (0, account)
    case .switched(let account): (1, account)
    case .refreshed(let account): (2, account)
    case .loggedOut(let account): (3, account)
    case .notKept(let reason): (4, reason)
    }
  }
}
