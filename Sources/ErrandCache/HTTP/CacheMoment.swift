package import ErrandCore

/// The current time on the wall clock and on the monotonic clock. The functions that make cache decisions receive this
/// value as an argument.
package struct CacheMoment: Sendable, Hashable {
  /// The time on the wall clock, which may be set back or forward.
  package let wall: WallTime
  /// The time on the monotonic clock of this process.
  package let monotonic: MonotonicInstant

  package init(wall: WallTime, monotonic: MonotonicInstant) {
    self.wall = wall
    self.monotonic = monotonic
  }
}
