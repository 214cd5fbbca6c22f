import Errand
import ErrandCache

/// How fresh a stored answer is, seen from its own policy.
enum EntryState: Sendable, Equatable {
  /// Served without asking, for so many seconds more.
  case fresh(Int64)
  /// Has been stale for so many seconds.
  case stale(Int64)
  /// Is never served before the server was asked: `no-cache`.
  case asks
  /// The clock was set back since it came.
  case unknown

  init(of head: CacheEntryHead, at now: WallTime) {
    let moment = CacheMoment(wall: now, monotonic: .now)
    let freshness = Freshness(of: head, policy: head.policy, now: moment)
    let heedsServer = head.policy.model != .lifetime
    if heedsServer, CacheControl(answer: head.answer.fields).noCache {
      self = .asks
    } else if freshness.age == nil {
      self = .unknown
    } else if freshness.isFresh {
      self = .fresh(max(freshness.secondsLeft, 0))
    } else {
      self = .stale(max(-freshness.secondsLeft, 0))
    }
  }

  /// Whether it would be served without asking.
  var isFresh: Bool { if case .fresh = self { true } else { false } }

  /// The state in two or three words.
  var words: String {
    switch self {
    case .fresh(let seconds): "fresh for \(Wording.span(seconds: seconds))"
    case .stale(let seconds): "stale for \(Wording.span(seconds: seconds))"
    case .asks: "asks always"
    case .unknown: "age unknown"
    }
  }
}
