@testable import ErrandCore
import TestSupport
import Testing

/// The token bucket without a queue, moment by moment.
struct RateBucketTests {
  private func bucket(_ rate: HostRate) -> Held<RateBucket> { Held(RateBucket(rate, .start)) }

  /// Takes every available token.
  private func drain(_ bucket: Held<RateBucket>, at now: MonotonicInstant) -> Int {
    var count = 0
    while bucket.value.hasToken(now), count < 10_000 {
      bucket.on { $0.take(now) }
      count += 1
    }
    return count
  }

  @Test(
    arguments: [
      (HostRate("h", requests: 10), 10), (HostRate("h", requests: 10, burst: 3), 3),
      (HostRate("h", requests: 1, per: .seconds(60), burst: 5), 5), (HostRate("h", requests: 0), 1),
      (HostRate("h", requests: -4, burst: -1), 1), (HostRate("h", requests: 1, per: .seconds(-1)), 1),
    ])
  func `new bucket is full`(rate: HostRate, burst: Int) {
    let bucket = bucket(rate)
    #expect(bucket.value.isFull(.start))
    #expect(drain(bucket, at: .start) == burst)
    #expect(!bucket.value.isFull(.start))
  }

  @Test(arguments: [(99, 0), (100, 1), (199, 1), (250, 2), (1_000, 10), (100_000, 10)])
  func `tokens refill one at a time`(milliseconds: Int, count: Int) {
    let bucket = bucket(HostRate("h", requests: 10))
    #expect(drain(bucket, at: .start) == 10)
    #expect(bucket.value.next == .after(.milliseconds(100)))
    #expect(drain(bucket, at: .after(.milliseconds(milliseconds))) == count)
  }

  @Test func `partial token is kept`() {
    let bucket = bucket(HostRate("h", requests: 10, burst: 1))
    bucket.on { $0.take(.start) }
    bucket.on { $0.take(.after(.milliseconds(100))) }
    #expect(bucket.value.next == .after(.milliseconds(200)))
  }

  @Test func `unused token can be returned`() {
    let bucket = bucket(HostRate("h", requests: 1, per: .seconds(60)))
    bucket.on { $0.take(.start) }
    #expect(!bucket.value.hasToken(.start))
    bucket.on { $0.giveBack() }
    #expect(bucket.value.hasToken(.start))
  }

  /// Handles a response that allows the given number of requests for 10 seconds.
  private func allow(_ count: Int64, _ bucket: Held<RateBucket>, at moment: MonotonicInstant = .start) {
    let pace = ServerPace.limits([.rest(count, .seconds(10))], isRefused: false)
    bucket.on { $0.learn(pace, unanswered: 0, since: moment) }
  }

  @Test func `server's limit delays tokens`() {
    let bucket = bucket(.followingServer("h"))
    allow(2, bucket)
    #expect(drain(bucket, at: .start) == 2)
    #expect(bucket.value.next == .after(.seconds(10)) && !bucket.value.isFull(.after(.seconds(9))))
    #expect(!bucket.value.hasToken(.after(.milliseconds(9_999))) && bucket.value.hasToken(.after(.seconds(10))))
    #expect(bucket.value.isFull(.after(.seconds(10))))
    bucket.on { $0.giveBack() }
    #expect(bucket.value.hasToken(.after(.seconds(1))))
    allow(5, bucket)
    #expect(drain(bucket, at: .after(.seconds(2))) == 5, "a later response replaces the limit")
  }

  @Test func `reserved request waits for the reset`() {
    let bucket = bucket(.followingServer("h"))
    allow(1, bucket)
    for _ in 1...2 { bucket.on { $0.reserve(.start) } }
    #expect(bucket.value.closed(.start) == nil)
    bucket.on { $0.takeReserved(.start) }
    #expect(bucket.value.closed(.start) == .after(.seconds(10)) && bucket.value.closed(.after(.seconds(10))) == nil)
  }

  @Test func `changed rate keeps the server's limit`() {
    let bucket = bucket(.followingServer("h"))
    allow(0, bucket)
    let later = RateBucket(HostRate("h", requests: 5, followsServer: true), .start, after: bucket.value)
    let own = RateBucket(HostRate("h", requests: 5), .start, after: bucket.value)
    #expect(!later.hasToken(.after(.seconds(5))) && own.hasToken(.after(.seconds(5))))
  }

  @Test func `own rate ignores the server's limit`() {
    let bucket = bucket(HostRate("h", requests: 5))
    allow(0, bucket)
    #expect(bucket.value.hasToken(.start))
  }

  @Test func `rate is never exceeded`() {
    let bucket = bucket(HostRate("h", requests: 3))
    var taken = 0
    for step in 0...10_000 { taken += drain(bucket, at: .after(.milliseconds(step))) }
    #expect(taken == 3 + 29, "the interval of a third of a second is rounded up")
  }

  @Test func `closed bucket reopens empty`() {
    let bucket = bucket(HostRate("h", requests: 10, burst: 50))
    bucket.on { $0.close(until: .after(.seconds(30))) }
    #expect(!bucket.value.hasToken(.after(.seconds(30))))
    #expect(bucket.value.next == .after(.milliseconds(30_100)))
    bucket.on { $0.close(until: .after(.seconds(5))) }
    #expect(bucket.value.next == .after(.milliseconds(30_100)), "an earlier moment does not reopen the bucket")
    #expect(drain(bucket, at: .after(.seconds(31))) == 10)
  }

  @Test func `returned tokens do not reopen a bucket`() {
    let bucket = bucket(HostRate("h", requests: 1, per: .seconds(10)))
    for _ in 1...3 { bucket.on { $0.reserve(.start) } }
    bucket.on { $0.close(until: .after(.seconds(60))) }
    for _ in 1...3 { bucket.on { $0.giveBackReserved() } }
    #expect(bucket.value.next == .after(.seconds(70)))
    #expect(!bucket.value.hasToken(.after(.seconds(60))) && bucket.value.hasToken(.after(.seconds(70))))
  }

  @Test func `new rate keeps the bucket closed`() {
    let bucket = bucket(HostRate("h", requests: 10))
    bucket.on { $0.close(until: .after(.seconds(30))) }
    let other = RateBucket(HostRate("h", requests: 1_000), .start, after: bucket.value)
    #expect(!other.hasToken(.after(.seconds(30))))
    #expect(RateBucket(HostRate("h", requests: 1_000), .start).isFull(.start))
  }

  @Test(arguments: [Int64.min, 0, .max]) func `extreme moments do not trap`(nanoseconds: Int64) {
    let now = MonotonicInstant(nanoseconds: nanoseconds)
    let bucket = Held(RateBucket(HostRate("h", requests: 1, per: .seconds(86_400), burst: .max), now))
    for moment in [now, MonotonicInstant(nanoseconds: .max), MonotonicInstant(nanoseconds: .min)] {
      bucket.on { $0.take(moment) }
      bucket.on { $0.close(until: moment) }
      bucket.on { $0.giveBack() }
      _ = bucket.value.hasToken(moment)
      _ = bucket.value.isFull(moment)
      #expect(bucket.value.next >= MonotonicInstant(nanoseconds: .min))
    }
  }

  @Test(
    arguments: [
      ("api.example.com", "api.example.com", true), ("API.example.com", "api.example.com", true),
      ("api.example.com", "www.example.com", false), (".example.com", "api.example.com", true),
      (".example.com", "example.com", false), ("example.com", "api.example.com", false),
      (".example.com", "badexample.com", false), ("[::1]", "[::1]", true), ("127.0.0.1:8931", "127.0.0.1", true),
      ("https://api.example.com:8443/v1", "api.example.com", true), ("[::1]:8080", "[::1]", true),
    ])
  func `host pattern selects its hosts`(pattern: String, host: String, isCovered: Bool) {
    #expect(HostRate(pattern, requests: 1).covers(host) == isCovered)
  }

  @Test func `first matching rate applies`() {
    let limits = AdmissionLimits(
      rates: [HostRate("a.example", requests: 1), HostRate(".example", requests: 2)])
    #expect(limits.rate(of: "a.example")?.requests == 1)
    #expect(limits.rate(of: "b.example")?.requests == 2)
    #expect(limits.rate(of: "b.test") == nil)
  }
}
