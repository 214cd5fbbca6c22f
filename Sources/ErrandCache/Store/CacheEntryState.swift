import ErrandCore

/// The freshness of a stored response, according to the cache policy with which it was stored. For a request with
/// another policy the freshness may differ.
public enum CacheEntryState: Sendable, Hashable {
  /// The response is served without validation for this duration, in whole seconds.
  case fresh(Duration)
  /// The response has been stale for this duration, in whole seconds.
  case stale(Duration)
  /// The response is validated before each use, because of `no-cache`.
  case asks
  /// The freshness is unknown, because the clock was set back after the response arrived.
  case unknown

  init(of head: CacheEntryHead, at moment: CacheMoment) {
    let freshness = Freshness(of: head, policy: head.policy, now: moment)
    let followsHTTPRules = head.policy.model != .lifetime
    if followsHTTPRules, CacheControl(response: head.answer.fields).noCache {
      self = .asks
    } else if freshness.age == nil {
      self = .unknown
    } else if freshness.isFresh {
      self = .fresh(.seconds(max(freshness.secondsLeft, 0)))
    } else {
      self = .stale(.seconds(max(-freshness.secondsLeft, 0)))
    }
  }

  /// Whether the response would be served without validation.
  public var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension CacheListing {
  // A listing belongs to no client, and each client has its own monotonic clock. So the properties below use only the
  // wall clock.

  /// The time since the response arrived or was last validated; nil if the clock was set back after that.
  public var age: Duration? { age(at: .now) }

  /// The current freshness of the response.
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
