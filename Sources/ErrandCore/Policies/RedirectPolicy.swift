/// How redirects are followed.
public struct RedirectPolicy: Sendable, Hashable {
  enum Mode: Sendable, Hashable { case follow, manual, refuse }

  let mode: Mode
  let limit: Int
  package let allowsDowngrade: Bool
  let resendsBodyElsewhere: Bool

  /// Whether redirects are followed.
  package var isFollowing: Bool { mode == .follow }

  /// Follows them, one hop at a time.
  ///
  /// - Parameters:
  ///   - limit: How many hops at most.
  ///   - allowsDowngrade: Whether https may lead to http.
  ///   - resendsBodyElsewhere: Whether 307 and 308 may carry a body to another origin.
  public static func follow(
    limit: Int = 10, allowsDowngrade: Bool = false, resendsBodyElsewhere: Bool = false
  ) -> RedirectPolicy {
    RedirectPolicy(
      mode: .follow, limit: limit, allowsDowngrade: allowsDowngrade, resendsBodyElsewhere: resendsBodyElsewhere)
  }

  /// Hands the redirect to the caller as an answer; the status rule has to take it.
  public static let manual = RedirectPolicy(
    mode: .manual, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Fails the call at the first redirect.
  public static let never = RedirectPolicy(
    mode: .refuse, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)
}
