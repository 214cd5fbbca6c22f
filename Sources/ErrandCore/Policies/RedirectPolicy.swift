/// How redirects are followed.
public struct RedirectPolicy: Sendable, Hashable {
  enum Mode: Sendable, Hashable { case inherited, follow, manual, refuse }

  let mode: Mode
  let limit: Int
  package let allowsDowngrade: Bool
  let resendsBodyElsewhere: Bool

  /// Whether redirects are followed.
  package var isFollowing: Bool { mode == .follow }

  /// The policy of the family or the client.
  public static let inherited = RedirectPolicy(
    mode: .inherited, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Follows redirects, one hop at a time.
  ///
  /// - Parameters:
  ///   - limit: The largest number of hops.
  ///   - allowsDowngrade: Whether a redirect from https to http is followed.
  ///   - resendsBodyElsewhere: Whether 307 and 308 may send a body to another origin.
  public static func follow(
    limit: Int = 10, allowsDowngrade: Bool = false, resendsBodyElsewhere: Bool = false
  ) -> RedirectPolicy {
    RedirectPolicy(
      mode: .follow, limit: limit, allowsDowngrade: allowsDowngrade, resendsBodyElsewhere: resendsBodyElsewhere)
  }

  /// Returns the redirect to the caller as a response; the status rule must accept it.
  public static let manual = RedirectPolicy(
    mode: .manual, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Fails the call at the first redirect.
  public static let never = RedirectPolicy(
    mode: .refuse, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Returns this policy, or `other` if this policy is inherited.
  func filled(by other: RedirectPolicy?) -> RedirectPolicy { mode == .inherited ? other ?? self : self }
}
