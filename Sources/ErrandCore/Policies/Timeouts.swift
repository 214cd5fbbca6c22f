/// The time-outs of a call. A time-out that is nil is inherited from the ``RequestFamily``, or from the client if it is
/// nil in the family, too.
public struct Timeouts: Sendable, Hashable {
  /// The time to connect, including name lookup and TLS. The default is 10 seconds.
  ///
  /// It has no effect over URLSession, which does not report when a connection is established. There ``idle`` also ends
  /// a call that cannot connect.
  public var connect: TimeLimit?
  /// The longest time in which no byte is sent or received. The default is 60 seconds.
  public var idle: TimeLimit?
  /// The time for the whole call: queueing, credentials, sending, attempts, waits, redirects and decoding. The default
  /// is 120 seconds. Transfers have no default limit. A transfer is a download, a stream, a call with a
  /// ``CallOptions/bodySink``, or a call whose request body is read while it is sent, such as a file or a form of more
  /// than 64 KiB.
  public var total: TimeLimit?

  /// Makes time-outs. A time-out that is nil is inherited.
  public init(connect: TimeLimit? = nil, idle: TimeLimit? = nil, total: TimeLimit? = nil) {
    self.connect = connect
    self.idle = idle
    self.total = total
  }

  /// Makes time-outs from durations, such as a variable: `Timeouts(total: limit)`. A time-out that is nil is inherited.
  @_disfavoredOverload  // `.seconds(5)` is a `TimeLimit`, so that literals are not ambiguous
  public init(connect: Duration? = nil, idle: Duration? = nil, total: Duration? = nil) {
    self.init(
      connect: connect.map { .after($0) }, idle: idle.map { .after($0) }, total: total.map { .after($0) })
  }

  /// Not available. A number has no unit.
  @available(*, unavailable, message: "write the unit, such as `.seconds(5)` or `.milliseconds(500)`")
  public init(connect: Double? = nil, idle: Double? = nil, total: Double? = nil) { self = .inherited }

  /// All time-outs are nil, so all of them are inherited.
  public static let inherited = Timeouts()

  /// Returns a copy in which each time-out that is nil is replaced by the time-out of `other`.
  func filled(by other: Timeouts?) -> Timeouts {
    Timeouts(connect: connect ?? other?.connect, idle: idle ?? other?.idle, total: total ?? other?.total)
  }
}

/// A time limit: a duration, or no limit.
public struct TimeLimit: Sendable, Hashable {
  /// The duration; nil for no limit.
  public let duration: Duration?

  /// A limit of the given duration, which may include fractions of a second.
  public static func after(_ duration: Duration) -> TimeLimit { TimeLimit(duration: duration) }
  /// A limit of the given number of seconds. 4e9 seconds (about 127 years) or more, infinity and NaN mean no limit.
  public static func seconds(_ seconds: Double) -> TimeLimit {
    seconds < 4e9 ? .after(.seconds(max(seconds, 0))) : .never
  }
  /// A limit of the given number of milliseconds.
  public static func milliseconds(_ milliseconds: Int) -> TimeLimit { .after(.milliseconds(milliseconds)) }
  /// No limit.
  public static let never = TimeLimit(duration: nil)

  // The defaults of `Timeouts`. They are made once, because each call uses them.
  static let standardConnect = TimeLimit.seconds(10)
  static let standardIdle = TimeLimit.seconds(60)
  static let standardTotal = TimeLimit.seconds(120)
}
