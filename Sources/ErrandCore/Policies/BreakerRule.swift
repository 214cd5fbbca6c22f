/// When calls to an origin that keeps failing are rejected at once, so that they do not wait and the origin can
/// recover.
///
/// A failure is a response with a status of 500 or above, a time-out, or a missing response. A cancelled call is not
/// counted. Failures on this device are not counted either: no network, a file that cannot be read, an interceptor.
public struct BreakerRule: Sendable, Hashable {
  /// The share of failures among the last exchanges at which the circuit opens, from 0 to 1. The default is 0.5.
  public var share = 0.5
  /// The number of last exchanges that count. The default is 100, the maximum 10,000.
  public var window = 100
  /// The circuit opens only after at least this many exchanges. The default is 20.
  public var least = 20
  /// How long every call is rejected when the circuit opens. The default is one minute.
  public var pause = Duration.seconds(60)
  /// How many exchanges are sent after the pause, to check whether the origin has recovered. The circuit closes if
  /// fewer than ``share`` of them fail. The default is 10.
  public var trials = 10

  /// Makes a rule with default values.
  public init() {}
}
