/// The rate tokens of one origin; each request takes one token. The type reads no clock: the caller passes the current
/// moment.
///
/// The type stores the moment at which the bucket was, or would have been, empty. The number of tokens follows from the
/// time since that moment. All arithmetic saturates.
struct RateBucket: Sendable {
  /// The nanoseconds in which one token is added.
  private let interval: Int64
  /// The nanoseconds in which the bucket fills up.
  private let depth: Int64
  private var empty: Int64
  /// No request is sent before this moment, even if a token is available.
  private var closed = Int64.min

  /// Makes a full bucket. If the bucket replaces another one, it is no fuller than the replaced bucket.
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

  /// Whether a token is available.
  func hasToken(_ now: MonotonicInstant) -> Bool {
    Self.difference(now.nanoseconds, max(empty, Self.difference(now.nanoseconds, depth))) >= interval
  }

  /// Whether the bucket is full.
  func isFull(_ now: MonotonicInstant) -> Bool { Self.difference(now.nanoseconds, empty) >= depth }

  /// The moment at which the next token is available if no request takes a token before that moment.
  var next: MonotonicInstant { MonotonicInstant(nanoseconds: Self.sum(empty, interval)) }

  /// Takes an available token, or reserves the next one.
  mutating func take(_ now: MonotonicInstant) {
    empty = Self.sum(max(empty, Self.difference(now.nanoseconds, depth)), interval)
  }

  /// Returns an unused token.
  mutating func giveBack() { empty = Self.difference(empty, interval) }

  /// Allows no request before a moment. At that moment the bucket is empty.
  mutating func close(until moment: MonotonicInstant) {
    empty = max(empty, moment.nanoseconds)
    closed = max(closed, moment.nanoseconds)
  }

  /// The moment until which a call must wait although it has a token; nil if the call need not wait.
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
