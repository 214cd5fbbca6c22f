/// The tokens that one origin may be asked with. Pure: every question brings the moment it is asked at.
///
/// Kept is the moment at which the bucket was empty last, or would have been; what has come in since is counted from
/// there. All arithmetic saturates.
struct RateBucket: Sendable {
  /// The nanoseconds in which one token comes in.
  private let interval: Int64
  /// The nanoseconds in which the bucket fills.
  private let depth: Int64
  private var empty: Int64
  /// Until when nobody is let through, whoever has a token.
  private var closed = Int64.min

  /// Makes a bucket: a full one, or one that is no fuller than the one it takes the place of.
  init(_ rate: HostRate, _ now: MonotonicInstant, after former: RateBucket? = nil) {
    let time = rate.time.clampedNanoseconds
    let requests = Int64(clamping: rate.requests)
    interval = time / requests + (time % requests == 0 ? 0 : 1)
    let (depth, overflow) = interval.multipliedReportingOverflow(by: Int64(clamping: rate.burst))
    self.depth = overflow ? .max : depth
    empty = Self.difference(now.nanoseconds, self.depth)
    if let former {
      empty = max(empty, former.empty)
      closed = former.closed
    }
  }

  /// Whether there is a token.
  func hasToken(_ now: MonotonicInstant) -> Bool {
    Self.difference(now.nanoseconds, max(empty, Self.difference(now.nanoseconds, depth))) >= interval
  }

  /// Whether nothing more fits in.
  func isFull(_ now: MonotonicInstant) -> Bool { Self.difference(now.nanoseconds, empty) >= depth }

  /// When there is a token at the earliest, if nobody takes one before.
  var next: MonotonicInstant { MonotonicInstant(nanoseconds: Self.sum(empty, interval)) }

  /// Takes a token that is there, or the next one.
  mutating func take(_ now: MonotonicInstant) {
    empty = Self.sum(max(empty, Self.difference(now.nanoseconds, depth)), interval)
  }

  /// Puts a token back that was not used.
  mutating func giveBack() { empty = Self.difference(empty, interval) }

  /// Lets nobody through before a moment, and takes out what is there until then.
  mutating func close(until moment: MonotonicInstant) {
    empty = max(empty, moment.nanoseconds)
    closed = max(closed, moment.nanoseconds)
  }

  /// Until when one who has a token already is to wait; nil where that is over.
  func closed(_ now: MonotonicInstant) -> MonotonicInstant? {
    closed > now.nanoseconds ? MonotonicInstant(nanoseconds: closed) : nil
  }

  private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? (right < 0 ? .min : .max) : sum
  }

  private static func difference(_ left: Int64, _ right: Int64) -> Int64 {
    let (difference, overflow) = left.subtractingReportingOverflow(right)
    return overflow ? (right < 0 ? .max : .min) : difference
  }
}
