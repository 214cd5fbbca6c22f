import ErrandSupport

/// What happened to the accounts of a ``CredentialStore``.
public enum AccountChange: Sendable, Hashable {
  /// An account was logged in, and is the present one.
  case loggedIn(String)
  /// Another account that is logged in is the present one; nil for nobody.
  case switched(to: String?)
  /// An account has another credential.
  case refreshed(String)
  /// An account was logged out: its calls were cancelled, and nothing more is sent for it.
  case loggedOut(String)
  /// The keeper could not keep what happened; the sentence says why. Until the process ends it counts all the same.
  case notKept(String)
}

extension AccountChange {
  /// Whether the same happened to the same account; names are compared byte by byte.
  public static func == (left: AccountChange, right: AccountChange) -> Bool {
    left.parts.kind == right.parts.kind && left.parts.text.hasSameBytes(as: right.parts.text)
  }

  /// Hashes the kind and the bytes of the name.
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
