import ErrandCore

/// How fresh a stored answer is, seen from the policy that stored it. Other requests may judge it otherwise.
public enum CacheEntryState: Sendable, Hashable {
  /// Served without asking, for so long; in whole seconds.
  case fresh(Duration)
  /// Has been stale for so long; in whole seconds.
  case stale(Duration)
  /// Is never served before the server was asked: `no-cache`.
  case asks
  /// The clock was set back since it came.
  case unknown

  init(of head: CacheEntryHead, at moment: CacheMoment) {
    let freshness = Freshness(of: head, policy: head.policy, now: moment)
    let heedsServer = head.policy.model != .lifetime
    if heedsServer, CacheControl(answer: head.answer.fields).noCache {
      self = .asks
    } else if freshness.age == nil {
      self = .unknown
    } else if freshness.isFresh {
      self = .fresh(.seconds(max(freshness.secondsLeft, 0)))
    } else {
      self = .stale(.seconds(max(-freshness.secondsLeft, 0)))
    }
  }

  /// Whether it would be served without asking.
  public var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension CacheListing {
  // By the wall clock alone: the other one is that of a client, and may be turned by hand.

  /// How long ago the answer came, or was last confirmed; nil where the clock was set back since.
  public var age: Duration? { age(at: .now) }

  /// How fresh the answer is now.
  public var state: CacheEntryState { state(at: .now) }

  package func age(at now: WallTime) -> Duration? {
    CacheAge.residence(of: headOnWall, now: CacheMoment(wall: now, monotonic: .now)).map { .milliseconds($0) }
  }

  package func state(at now: WallTime) -> CacheEntryState {
    CacheEntryState(of: headOnWall, at: CacheMoment(wall: now, monotonic: .now))
  }

  private var headOnWall: CacheEntryHead {
    var head = head
    head.received = nil
    return head
  }
}
