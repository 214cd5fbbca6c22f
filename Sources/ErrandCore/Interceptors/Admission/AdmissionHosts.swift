/// What a queue knows of each origin. Origins that nobody asks are forgotten when there are many of them.
struct AdmissionHosts: Sendable {
  /// One origin.
  struct Host: Sendable {
    let origin: HTTPURL.Origin
    var running = 0
    /// Nil for one without a rate.
    var bucket: RateBucket?
  }

  /// How many are kept at least, so that calls in a row need not make room each time.
  private static var kept: Int { 64 }

  private var places: [HTTPURL.Origin: Int] = [:]
  private var hosts: [Host?] = []
  private var free: [Int] = []
  private var sweepAt = Self.kept

  /// The place of an origin; nil where it has none yet.
  func place(of origin: HTTPURL.Origin) -> Int? { places[origin] }

  /// The places in use.
  var all: [Int] { hosts.indices.filter { hosts[$0] != nil } }

  subscript(place: Int) -> Host? { hosts[place] }

  /// The exchanges that run at a place.
  func running(at place: Int) -> Int { hosts[place]?.running ?? 0 }

  /// The bucket at a place; nil for one without a rate.
  func bucket(at place: Int) -> RateBucket? { hosts[place]?.bucket }

  /// Makes a place for an origin. Those where nobody runs, nobody waits and nothing has to be remembered may lose theirs.
  ///
  /// - Parameter now: Nil where no host has a rate.
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

  /// Notes that exchanges begin or end.
  mutating func run(at place: Int, _ step: Int) { hosts[place]?.running += step }

  /// Changes the bucket of a host.
  mutating func change(at place: Int, _ body: (inout RateBucket) -> Void) {
    if var bucket = hosts[place]?.bucket {
      body(&bucket)
      hosts[place]?.bucket = bucket
    }
  }

  /// Gives each host the rate it has now.
  mutating func setRates(_ now: MonotonicInstant, _ rate: (String) -> HostRate?) {
    for place in hosts.indices {
      guard let host = hosts[place] else { continue }
      hosts[place]?.bucket = rate(host.origin.host).map { RateBucket($0, now, after: host.bucket) }
    }
  }
}
