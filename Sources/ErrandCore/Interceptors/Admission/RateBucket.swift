/// The token bucket of one origin, which limits the rate of requests: each request takes one token. The type reads no
/// clock; the caller passes the current moment.
///
/// The type does not store the number of tokens, but the moment at which the bucket is empty. The number of tokens is
/// computed from the time since that moment. All arithmetic saturates.
struct RateBucket: Sendable {
  /// The time in which one token is added, in nanoseconds.
  private let interval: Int64
  /// The time in which an empty bucket fills up, in nanoseconds.
  private let depth: Int64
  private var empty: Int64
  /// The moment before which no request is sent, even if a token is available.
  private var closed = Int64.min

  /// Makes a full bucket. If the bucket replaces a bucket `former`, the new bucket is full only if enough time has
  /// passed since `former` was empty.
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

  /// Takes an available token, or reserves the next token if no token is available.
  mutating func take(_ now: MonotonicInstant) {
    empty = Self.sum(max(empty, Self.difference(now.nanoseconds, depth)), interval)
  }

  /// Puts an unused token back into the bucket.
  mutating func giveBack() { empty = Self.difference(empty, interval) }

  /// Allows no request before the given moment. At that moment the bucket will be empty.
  mutating func close(until moment: MonotonicInstant) {
    empty = max(empty, moment.nanoseconds)
    closed = max(closed, moment.nanoseconds)
  }

  /// The moment until which a call must wait even if a token is available; nil if the call need not wait.
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
