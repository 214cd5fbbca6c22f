/// What Redis is asked to do, each as one script that runs alone: no other client sees a half of it.
///
/// All take the prefix, the salt (empty where it is not known yet) and fresh random digits as their first arguments. One
/// that was written for another salt answers `{"salt", the salt in use}` and does nothing.
enum RedisScript: CaseIterable, Sendable {
  case salt, find, pick, holds
  case put, renew, touch, drop
  case forget, cut, sweep, clear, older, purge
  case list, size

  /// The whole text, in Lua.
  var source: String { Self.prelude + body }

  private var body: String {
    switch self {
    case .salt: Self.saltBody
    case .find: Self.findBody
    case .pick: Self.pickBody
    case .holds: Self.holdsBody
    case .put: Self.putBody
    case .renew: Self.renewBody
    case .touch: Self.touchBody
    case .drop: Self.dropBody
    case .forget: Self.forgetBody
    case .cut: Self.cutBody
    case .sweep: Self.sweepBody
    case .clear: Self.clearBody
    case .older: Self.olderBody
    case .purge: Self.purgeBody
    case .list: Self.listBody
    case .size: Self.sizeBody
    }
  }
}
