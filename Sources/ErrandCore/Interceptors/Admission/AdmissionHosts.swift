/// The state of each origin in an admission queue. Unused origins are removed when many origins are stored.
struct AdmissionHosts: Sendable {
  /// The state of one origin in an admission queue: the number of its running exchanges, and its token bucket.
  struct Host: Sendable {
    let origin: HTTPURL.Origin
    var running = 0
    /// The number of running exchanges for which ``AdmissionQueue/countAnswered(_:)`` was called.
    var answered = 0
    /// The token bucket of the origin; nil if its host has no rate limit.
    var bucket: RateBucket?

    /// The number of running exchanges whose response headers have not arrived.
    var unanswered: Int { max(running - answered, 0) }
  }

  /// If fewer origins than this number are stored, the type does not search for unused origins to remove. So the search
  /// is rare.
  private static var kept: Int { 64 }

  private var places: [HTTPURL.Origin: Int] = [:]
  /// The states of the origins at their indices, see ``place(of:)``; nil at an index that is not in use.
  var list: [Host?] = []
  private var free: [Int] = []
  private var sweepAt = Self.kept

  /// Returns the index that identifies an origin in this type; nil if the origin is not stored.
  func place(of origin: HTTPURL.Origin) -> Int? { places[origin] }

  var all: [Int] { list.indices.filter { list[$0] != nil } }

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
    let place = free.popLast() ?? list.count
    if place < list.count { list[place] = host } else { list.append(host) }
    places[origin] = place
    return place
  }

  private mutating func sweep(_ now: MonotonicInstant?, _ isWaitedFor: (Int) -> Bool) {
    for place in list.indices {
      guard let host = list[place], host.running == 0, !isWaitedFor(place) else { continue }
      if let bucket = host.bucket, now.map(bucket.isFull) != true { continue }
      places[host.origin] = nil
      list[place] = nil
      free.append(place)
    }
  }

  /// Applies changed rate limits to all origins.
  mutating func setRates(_ now: MonotonicInstant, _ rate: (String) -> HostRate?) {
    for place in list.indices {
      guard let host = list[place] else { continue }
      list[place]?.bucket = rate(host.origin.host).map { RateBucket($0, now, after: host.bucket) }
    }
  }
}
