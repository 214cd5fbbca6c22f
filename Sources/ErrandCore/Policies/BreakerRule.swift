/// The rule of a circuit breaker: while the circuit of an origin is open, calls to this origin are rejected at once. So
/// calls do not wait for an origin that keeps failing, and the origin can recover.
///
/// A failure is a response with a status of 500 or above, a time-out, or a missing response. A cancelled call is not
/// counted. Failures on this device are not counted either, for example a missing network, a file that cannot be read,
/// or an error of an interceptor.
public struct BreakerRule: Sendable, Hashable {
  /// The share of failures among the last exchanges at which the circuit opens. The share is a number from 0 to 1. The
  /// default is 0.5.
  public var share = 0.5
  /// The number of most recent exchanges from which the share of failures is computed. The default is 100, the maximum
  /// 10,000.
  public var window = 100
  /// The number of exchanges that must have ended before the circuit may open. The default is 20.
  public var least = 20
  /// How long all calls are rejected after the circuit has opened. The default is one minute.
  public var pause = Duration.seconds(60)
  /// The number of exchanges that are sent after the pause, to check whether the origin has recovered. The circuit
  /// closes if the share of failures among these exchanges is below ``share``. The default is 10.
  public var trials = 10

  /// Makes a rule with default values.
  public init() {}
}
