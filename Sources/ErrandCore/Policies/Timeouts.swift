/// How long a call may take. What is nil is left to the family, then to the client.
public struct Timeouts: Sendable, Hashable {
  /// Until the connection stands, name look-up and TLS included. 10 seconds where nobody says anything.
  public var connect: TimeLimit?
  /// How long nothing may move. 60 seconds where nobody says anything.
  public var idle: TimeLimit?
  /// The whole call: queueing, credentials, sending, attempts, waits, redirects and decoding. 120 seconds where nobody
  /// says anything; none for a transfer: a download, a stream, a call with a ``CallOptions/bodySink``, and one whose
  /// body is read while it is sent, such as a file or a form of more than 64 KiB.
  public var total: TimeLimit?

  /// Makes time-outs.
  public init(connect: TimeLimit? = nil, idle: TimeLimit? = nil, total: TimeLimit? = nil) {
    self.connect = connect
    self.idle = idle
    self.total = total
  }

  /// These time-outs, `other` filling what they do not say.
  func filled(by other: Timeouts?) -> Timeouts {
    Timeouts(connect: connect ?? other?.connect, idle: idle ?? other?.idle, total: total ?? other?.total)
  }
}

/// A length of time after which something ends, or never.
public struct TimeLimit: Sendable, Hashable {
  /// The length; nil for never.
  public let duration: Duration?

  /// Ends after a duration, exact below a second too.
  public static func after(_ duration: Duration) -> TimeLimit { TimeLimit(duration: duration) }
  /// Ends after some seconds; more than a century, or no number at all, is never.
  public static func seconds(_ seconds: Double) -> TimeLimit {
    seconds < 4e9 ? .after(.seconds(max(seconds, 0))) : .never
  }
  /// Ends after some milliseconds.
  public static func milliseconds(_ milliseconds: Int) -> TimeLimit { .after(.milliseconds(milliseconds)) }
  /// Never ends.
  public static let never = TimeLimit(duration: nil)
}
