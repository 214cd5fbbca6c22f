/// When a slow read is sent a second time, so that the faster answer counts.
///
/// It costs the server up to one more request for each call; it comes out of the same budget as a new attempt. Only
/// safe methods without a body are sent twice, and never where a sink takes the answer.
public struct HedgeRule: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case after(Duration)
    case share(Double, least: Duration)
  }

  let kind: Kind

  /// When no answer has come after a time.
  public static func after(_ time: Duration) -> HedgeRule { HedgeRule(kind: .after(time)) }

  /// When the call takes longer than a share of the last calls to its origin took: with 0.95 one of twenty is sent
  /// twice. Never before `least`; not before twenty calls were seen.
  public static func slowerThan(_ share: Double, least: Duration = .milliseconds(10)) -> HedgeRule {
    HedgeRule(kind: .share(share, least: least))
  }
}
