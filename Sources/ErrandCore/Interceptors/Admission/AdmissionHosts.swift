/// The state of each origin in an admission queue. Unused origins are removed when many origins are stored.
struct AdmissionHosts: Sendable {
  /// The state of one origin in an admission queue: the number of its running exchanges, and its token bucket.
  struct Host: Sendable {
    let origin: HTTPURL.Origin
    var running = 0
    /// The token bucket of the origin; nil if its host has no rate limit.
    var bucket: RateBucket?
  }

  /// If fewer origins than this number are stored, the type does not search for unused origins to remove. So the search
  /// is rare.
  private static var kept: Int { 64 }

  private var places: [HTTPURL.Origin: Int] = [:]
  private var hosts: [Host?] = []
  private var free: [Int] = []
  private var sweepAt = Self.kept

  /// Returns the index that identifies an origin in this type; nil if the origin is not stored.
  func place(of origin: HTTPURL.Origin) -> Int? { places[origin] }

  /// The indices of all stored origins.
  var all: [Int] { hosts.indices.filter { hosts[$0] != nil } }

  subscript(place: Int) -> Host? { hosts[place] }

  /// The number of exchanges that run with the origin at an index.
  func running(at place: Int) -> Int { hosts[place]?.running ?? 0 }

  /// The token bucket of the origin at an index; nil if its host has no rate limit.
  func bucket(at place: Int) -> RateBucket? { hosts[place]?.bucket }

  /// Adds an origin, and returns its index. The method may remove other origins that have no running exchange, no
  /// waiting call and a full token bucket.
  ///
  /// - Parameter now: The current moment; nil if no host has a rate limit.
  mutating func make(
    _ origin: HTTPURL.Origin, _ rate: HostRate?, _ now: MonotonicInstant?, isWaitedFor: (Int) -> Bool
  ) -> Int {
    if places.count >= sweepAt {
      sweep(now, isWaitedFor)
      sweepAt = max(Self.kept, 2 * places.count)
    }
    var host = Host(origin: origin)
    if let rate, let now { host.bucket = RateBucket(rate, now) }
    let place = free.popLast() ?? hosts.count
    if place < hosts.count { hosts[place] = host } else { hosts.append(host) }
    places[origin] = place
    return place
  }

  private mutating func sweep(_ now: MonotonicInstant?, _ isWaitedFor: (Int) -> Bool) {
    for place in hosts.indices {
      guard let host = hosts[place], host.running == 0, !isWaitedFor(place) else { continue }
      if let bucket = host.bucket, now.map(bucket.isFull) != true { continue }
      places[host.origin] = nil
      hosts[place] = nil
      free.append(place)
    }
  }

  /// Adds `step` to the number of running exchanges of an origin. The value of `step` is negative when exchanges end.
  mutating func run(at place: Int, _ step: Int) { hosts[place]?.running += step }

  /// Changes the token bucket of an origin whose host has a rate limit; does nothing for other origins.
  mutating func change(at place: Int, _ body: (inout RateBucket) -> Void) {
    if var bucket = hosts[place]?.bucket {
      body(&bucket)
      hosts[place]?.bucket = bucket
    }
  }

  /// Applies changed rate limits to all origins.
  mutating func setRates(_ now: MonotonicInstant, _ rate: (String) -> HostRate?) {
    for place in hosts.indices {
      guard let host = hosts[place] else { continue }
      hosts[place]?.bucket = rate(host.origin.host).map { RateBucket($0, now, after: host.bucket) }
    }
  }
}

/// The token bucket of one origin, which limits the rate of requests: each request takes one token. The type reads no
/// clock; the caller passes the current moment.
///
/// The type does not store the number of tokens, but the moment at which the bucket is empty. The number of tokens is
/// computed from the time since that moment. All arithmetic saturates.
struct RateBucket: Sendable {
  /// The requests that the server still accepts until a moment in nanoseconds, by its last response.
  private struct Quota: Sendable {
    var left: Int64
    let reset: Int64
    /// The moment at which the server said so.
    let heard: Int64
  }

  /// The time in which one token is added, in nanoseconds.
  private let interval: Int64
  /// The time in which an empty bucket fills up, in nanoseconds.
  private let depth: Int64
  private var empty: Int64
  /// The moment before which no request is sent, even if a token is available.
  private var closed = Int64.min
  private var quota: Quota?
  /// Whether the responses of the server limit the requests, see ``HostRate/followsServer``.
  let followsServer: Bool

  /// Makes a full bucket. If the bucket replaces a bucket `former`, the new bucket is full only if enough time has
  /// passed since `former` was empty.
  init(_ rate: HostRate, _ now: MonotonicInstant, after former: RateBucket? = nil) {
    let time = rate.time.clampedNanoseconds
    let requests = Int64(clamping: rate.requests)
    interval = time / requests + (time % requests == 0 ? 0 : 1)
    let (depth, overflow) = interval.multipliedReportingOverflow(by: Int64(clamping: rate.burst))
    self.depth = overflow ? .max : depth
    followsServer = rate.followsServer
    empty = Self.difference(now.nanoseconds, self.depth)
    if let former {
      empty = max(empty, former.empty)
      closed = former.closed
      quota = followsServer ? former.quota : nil
    }
  }

  /// Whether a token is available, and the server accepts one more request.
  func hasToken(_ now: MonotonicInstant) -> Bool {
    if let quota, quota.left <= 0, quota.reset > now.nanoseconds { return false }
    return Self.difference(now.nanoseconds, max(empty, Self.difference(now.nanoseconds, depth))) >= interval
  }

  /// Whether the bucket is full, and nothing need be remembered about the server's own limit.
  func isFull(_ now: MonotonicInstant) -> Bool {
    Self.difference(now.nanoseconds, empty) >= depth && quota.map { $0.reset <= now.nanoseconds } ?? true
  }

  /// The moment at which the next token is available if no request takes a token before that moment.
  var next: MonotonicInstant {
    let reset = quota.map { $0.left <= 0 ? $0.reset : .min } ?? .min
    return MonotonicInstant(nanoseconds: max(Self.sum(empty, interval), reset))
  }

  /// Takes an available token, or reserves the next token if no token is available.
  mutating func take(_ now: MonotonicInstant) {
    empty = Self.sum(max(empty, Self.difference(now.nanoseconds, depth)), interval)
    if let left = quota?.left { quota?.left = Self.difference(left, 1) }
  }

  /// Puts an unused token back into the bucket.
  mutating func giveBack() {
    empty = Self.difference(empty, interval)
    if let left = quota?.left { quota?.left = Self.sum(left, 1) }
  }

  /// Allows the given number of requests for a time since a moment, by the server's own limit. A limit that the server
  /// gave later stays.
  mutating func allow(_ count: Int64, for time: Duration, since heard: MonotonicInstant) {
    if let quota, quota.heard > heard.nanoseconds { return }
    quota = Quota(left: count, reset: heard.advanced(by: time).nanoseconds, heard: heard.nanoseconds)
  }

  /// Allows no request before the given moment. At that moment the bucket will be empty. Replaces the server's own
  /// limit.
  mutating func close(until moment: MonotonicInstant) {
    quota = nil
    empty = max(empty, moment.nanoseconds)
    closed = max(closed, moment.nanoseconds)
  }

  /// The moment until which a call that has taken a token must still wait; nil if the call need not wait.
  func closed(_ now: MonotonicInstant) -> MonotonicInstant? {
    let reset = quota.map { $0.left < 0 ? $0.reset : .min } ?? .min
    let moment = max(closed, reset)
    return moment > now.nanoseconds ? MonotonicInstant(nanoseconds: moment) : nil
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
