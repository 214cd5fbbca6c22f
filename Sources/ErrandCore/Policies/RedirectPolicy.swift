/// Whether and how a call follows redirects (RFC 9110 section 15.4).
public struct RedirectPolicy: Sendable, Hashable {
  enum Mode: Sendable, Hashable { case inherited, follow, manual, refuse }

  let mode: Mode
  let limit: Int
  package let allowsDowngrade: Bool
  let resendsBodyElsewhere: Bool
  /// The fields that are sent to another origin although their names suggest a secret.
  var resendsFieldsElsewhere: Set<HTTPFieldName> = []

  package var isFollowing: Bool { mode == .follow }

  /// The policy is inherited from the ``RequestFamily`` or from the client.
  public static let inherited = RedirectPolicy(
    mode: .inherited, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Follows redirects, one after the other.
  ///
  /// Fields that are marked as secret, such as `Authorization`, are not sent to another origin. Nor are fields whose
  /// names suggest a secret, such as `X-Api-Key`: `HTTPRequest.curlCommand()` masks the same fields. `Idempotency-Key`
  /// and the field of ``Idempotency/keyed(_:)`` are sent, because a server must recognise a repeated request.
  ///
  /// - Parameters:
  ///   - limit: The largest number of redirects that one call follows.
  ///   - allowsDowngrade: Whether a redirect from https to http is followed. If false, such a redirect fails the call.
  ///   - resendsBodyElsewhere: Whether a redirect with status 307 or 308 may send the request body to another origin.
  ///     If false, such a redirect fails the call.
  ///   - resendsFieldsElsewhere: The names of fields that are sent to another origin although their names suggest a
  ///     secret. A field that is marked as secret is never sent there.
  public static func follow(
    limit: Int = 10, allowsDowngrade: Bool = false, resendsBodyElsewhere: Bool = false,
    resendsFieldsElsewhere: Set<HTTPFieldName> = []
  ) -> RedirectPolicy {
    RedirectPolicy(
      mode: .follow, limit: limit, allowsDowngrade: allowsDowngrade, resendsBodyElsewhere: resendsBodyElsewhere,
      resendsFieldsElsewhere: resendsFieldsElsewhere)
  }

  /// Returns the redirect to the caller as a response. The call fails unless its ``ResponseValidation/status`` accepts the
  /// status of the redirect.
  public static let manual = RedirectPolicy(
    mode: .manual, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  /// Fails the call at the first redirect.
  public static let never = RedirectPolicy(
    mode: .refuse, limit: 0, allowsDowngrade: false, resendsBodyElsewhere: false)

  func filled(by other: RedirectPolicy?) -> RedirectPolicy { mode == .inherited ? other ?? self : self }

  /// Returns this policy, which also sends the field with the key of `idempotency` to another origin. Without the key,
  /// a server could carry out a repeated request twice.
  func resending(keyOf idempotency: Idempotency) -> RedirectPolicy {
    guard case .keyed(let name) = idempotency else { return self }
    var policy = self
    policy.resendsFieldsElsewhere.insert(name)
    return policy
  }
}
