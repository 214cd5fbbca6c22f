/// When calls to an origin that keeps failing are refused at once, so that nobody waits for it and it may recover.
///
/// A failure is an answer with a status of 500 or above, a time-out, or none. A cancelled call counts as nothing, and
/// so does what lies on this side: no network, a refused file, an interceptor.
public struct BreakerRule: Sendable, Hashable {
  /// The share of failures among the last exchanges at which the circuit opens, from 0 to 1. A half where nothing is
  /// said.
  public var share = 0.5
  /// How many of the last exchanges are looked at. 100 where nothing is said; 10,000 at most.
  public var window = 100
  /// Fewer exchanges than this say nothing. 20 where nothing is said.
  public var least = 20
  /// How long every call is refused then. A minute where nothing is said.
  public var pause = Duration.seconds(60)
  /// How many exchanges are let through after that, to see whether the origin is well again: the circuit closes where
  /// fewer than ``share`` of them fail. 10 where nothing is said.
  public var trials = 10

  /// Makes a rule with every part at its default.
  public init() {}
}
