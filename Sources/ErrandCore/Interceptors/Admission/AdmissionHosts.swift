/// The state of each origin in an admission queue. Unused origins are removed when many origins are stored.
struct AdmissionHosts: Sendable {
  /// The state of one origin in an admission queue: the number of its running exchanges, and its token bucket.
  struct Host: Sendable {
    let origin: HTTPURL.Origin
    var running = 0
    /// The number of running exchanges whose response headers have arrived, as far as the queue was told.
    var answered = 0
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

  var all: [Int] { hosts.indices.filter { hosts[$0] != nil } }

  subscript(place: Int) -> Host? { hosts[place] }

  /// The number of exchanges that run with the origin at an index.
  func running(at place: Int) -> Int { hosts[place]?.running ?? 0 }

  /// The number of exchanges that run with the origin at an index and whose response headers have not arrived.
  func unanswered(at place: Int) -> Int { hosts[place].map { max($0.running - $0.answered, 0) } ?? 0 }

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

  /// Adds `step` to the number of running exchanges of an origin whose response headers have arrived.
  mutating func countAnswered(at place: Int, _ step: Int) { hosts[place]?.answered += step }

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
