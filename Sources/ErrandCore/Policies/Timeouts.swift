/// How long a call may take. Parts that are nil are inherited from the family, then from the client.
public struct Timeouts: Sendable, Hashable {
  /// The time to connect, including name lookup and TLS. The default is 10 seconds.
  public var connect: TimeLimit?
  /// The longest time without any transferred byte. The default is 60 seconds.
  public var idle: TimeLimit?
  /// The time for the whole call: queueing, credentials, sending, attempts, waits, redirects and decoding. The default
  /// is 120 seconds. There is no default limit for a transfer: a download, a stream, a call with a
  /// ``CallOptions/bodySink``, and a call whose body is read while it is sent, such as a file or a form of more than 64
  /// KiB.
  public var total: TimeLimit?

  /// Makes time-outs.
  public init(connect: TimeLimit? = nil, idle: TimeLimit? = nil, total: TimeLimit? = nil) {
    self.connect = connect
    self.idle = idle
    self.total = total
  }

  /// All parts are nil, so all time-outs are inherited.
  public static let inherited = Timeouts()

  /// Returns these time-outs. Parts that are nil are taken from `other`.
  func filled(by other: Timeouts?) -> Timeouts {
    Timeouts(connect: connect ?? other?.connect, idle: idle ?? other?.idle, total: total ?? other?.total)
  }
}

/// A duration after which something ends, or never.
public struct TimeLimit: Sendable, Hashable {
  /// The duration; nil for never.
  public let duration: Duration?

  /// Ends after a duration, which may have fractions of a second.
  public static func after(_ duration: Duration) -> TimeLimit { TimeLimit(duration: duration) }
  /// Ends after some seconds; more than 4e9 seconds (about 127 years), infinity and NaN mean never.
  public static func seconds(_ seconds: Double) -> TimeLimit {
    seconds < 4e9 ? .after(.seconds(max(seconds, 0))) : .never
  }
  /// Ends after some milliseconds.
  public static func milliseconds(_ milliseconds: Int) -> TimeLimit { .after(.milliseconds(milliseconds)) }
  /// Never ends.
  public static let never = TimeLimit(duration: nil)
}
