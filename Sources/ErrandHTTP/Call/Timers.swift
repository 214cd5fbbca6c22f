/// Where all waiting for a moment goes through: deadlines, delays and idle times of every call.
///
/// One heap serves all calls, so no call costs a timer task. libcurl's transport lends its thread, all others share
/// ``SharedTimers``, and tests turn a manual clock by hand.
public protocol Timers: AnyObject, Sendable {
  /// The present on this clock.
  var now: MonotonicInstant { get }

  /// Runs `action` once at `instant` or soon after it (at once if it has passed), on the timers' own thread.
  ///
  /// The action must be short and must not block. It does not run under a lock of the timers.
  func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken

  /// Takes a scheduled action out. No effect when it has run or is about to run.
  func cancel(_ token: TimerToken)
}

/// Names one scheduled action of ``Timers``.
public struct TimerToken: Sendable, Hashable {
  /// The number the timers gave it; never used twice.
  public let number: UInt64

  /// Makes a token from a number that is unique among the timers that give it out.
  public init(number: UInt64) {
    self.number = number
  }
}
