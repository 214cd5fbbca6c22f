package import ErrandCore

/// The present on both clocks, for decisions.
package struct CacheMoment: Sendable, Hashable {
  /// On the wall clock, which may be set back or forward.
  package let wall: WallTime
  /// On the monotonic clock of this process.
  package let monotonic: MonotonicInstant

  package init(wall: WallTime, monotonic: MonotonicInstant) {
    self.wall = wall
    self.monotonic = monotonic
  }
}
