import ErrandSupport

/// A change of the accounts of a ``CredentialStore``.
public enum AccountChange: Sendable, Hashable {
  /// An account was logged in and is now the current one.
  case loggedIn(String)
  /// Another logged-in account is now the current one; nil if no account is current now.
  case switched(to: String?)
  /// An account has a new credential.
  case refreshed(String)
  /// An account was logged out: its calls were cancelled, and nothing more is sent for it.
  case loggedOut(String)
  /// The keeper could not save a change; the text gives the reason. The change is still valid until the process ends.
  case notKept(String)
}

extension AccountChange {
  /// Whether two changes are of the same kind and concern the same account. Names are compared byte by byte.
  public static func == (left: AccountChange, right: AccountChange) -> Bool {
    left.parts.kind == right.parts.kind && left.parts.text.hasSameBytes(as: right.parts.text)
  }

  /// Hashes the kind of the change and the bytes of the account's name.
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
