/// Whether and how a call follows redirects (RFC 9110 section 15.4).
public struct RedirectPolicy: Sendable, Hashable {
  enum Mode: Sendable, Hashable { case inherited, follow, manual, refuse }

  let mode: Mode
  let limit: Int
  package let allowsDowngrade: Bool
  let resendsBodyElsewhere: Bool

  package var isFollowing: Bool { mode == .follow }

  /// The policy is inherited from the ``RequestFamily`` or from the client.
  public static let inherited = RedirectPolicy(
    mode: .inherited, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Follows redirects, one after the other.
  ///
  /// - Parameters:
  ///   - limit: The largest number of redirects that one call follows.
  ///   - allowsDowngrade: Whether a redirect from https to http is followed. If false, such a redirect fails the call.
  ///   - resendsBodyElsewhere: Whether a redirect with status 307 or 308 may send the request body to another origin.
  ///     If false, such a redirect fails the call.
  public static func follow(
    limit: Int = 10, allowsDowngrade: Bool = false, resendsBodyElsewhere: Bool = false
  ) -> RedirectPolicy {
    RedirectPolicy(
      mode: .follow, limit: limit, allowsDowngrade: allowsDowngrade, resendsBodyElsewhere: resendsBodyElsewhere)
  }

  /// Returns the redirect to the caller as a response. The call fails unless its ``ResponseValidation/status`` accepts the
  /// status of the redirect.
  public static let manual = RedirectPolicy(
    mode: .manual, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Fails the call at the first redirect.
  public static let never = RedirectPolicy(
    mode: .refuse, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Returns this policy, or `other` if this policy is inherited.
  func filled(by other: RedirectPolicy?) -> RedirectPolicy { mode == .inherited ? other ?? self : self }
}
