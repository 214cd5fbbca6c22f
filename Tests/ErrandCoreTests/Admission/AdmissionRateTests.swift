@testable import ErrandCore
import ErrandTesting
import Testing

/// Hosts with a rate limit, in the queue.
struct AdmissionRateTests {
  static let red = HTTPURL.Origin.test("http://red.example")
  static let blue = HTTPURL.Origin.test("http://blue.example")

  /// Red allows one request per second with a burst of two; blue has no rate limit.
  private func bench(perHost: Int = 10, total: Int = 100, burst: Int = 2) -> Bench {
    Bench(
      AdmissionLimits(
        perHost: perHost, total: total, rates: [HostRate("red.example", requests: 1, burst: burst)]))
  }

  @Test func `burst is admitted and rest waits`() {
    let bench = bench()
    bench.run(Self.red, 2)
    #expect(!bench.enters(Self.red))
    bench.wait(Self.red, 1)
    #expect(bench.enters(Self.blue))
    #expect(bench.wake(at: Self.red) == .seconds(1))
    #expect(bench.wake(at: Self.blue) == nil)
  }

  @Test func `freed slot does not replace a token`() {
    let bench = bench()
    bench.run(Self.red, 2)
    bench.wait(Self.red, 1)
    #expect(bench.release(Self.red) == nil)
    bench.now = .after(.milliseconds(999))
    #expect(bench.admitNext(at: Self.red) == nil)
    bench.now = .after(.seconds(1))
    #expect(bench.admitNext(at: Self.red) == 1)
    #expect(bench.wake(at: Self.red) == nil, "no call waits any more")
  }

  @Test func `overdue token wakes waiter immediately`() {
    let bench = bench()
    bench.run(Self.red, 2)
    bench.wait(Self.red, 1)
    bench.now = .after(.milliseconds(1_500))
    #expect(bench.wake(at: Self.red) == .milliseconds(-500), "no other event admits this waiter")
    #expect(bench.admitNext(at: Self.red) == 1)
  }

  @Test func `new call cannot take a waiter's token`() {
    let bench = bench()
    bench.run(Self.red, 2)
    bench.wait(Self.red, 1)
    bench.now = .after(.seconds(1))
    bench.wait(Self.red, 2)
    #expect(bench.admitNext(at: Self.red) == 1)
    #expect(bench.admitNext(at: Self.red) == nil)
  }

  @Test func `slot at another host wakes no waiter`() {
    let bench = bench(total: 3)
    bench.run(Self.red, 2)
    bench.run(Self.blue)
    bench.wait(Self.red, 1, .high)
    bench.wait(Self.blue, 2, .low)
    #expect(bench.release(Self.blue) == 2, "a host without tokens delays no other host")
    bench.now = .after(.seconds(1))
    #expect(bench.admitNext(at: Self.red) == nil, "no slot is free")
    #expect(bench.wake(at: Self.red) == nil, "releasing a slot will wake it")
    #expect(bench.release(Self.blue) == 1)
  }

  @Test func `full host needs no rate timer`() {
    let bench = bench(perHost: 2)
    bench.run(Self.red, 2)
    bench.wait(Self.red, 1)
    #expect(bench.wake(at: Self.red) == nil, "it waits for a slot, and releasing a slot checks the queue again")
    #expect(bench.release(Self.red) == nil)
    #expect(bench.wake(at: Self.red) == .seconds(1))
  }

  @Test func `unused token goes to next waiter`() {
    let bench = bench(burst: 1)
    bench.run(Self.red)
    bench.wait(Self.red, 1)
    #expect(bench.release(Self.red, isUnused: true) == 1)
  }

  @Test func `used token is not returned`() {
    let bench = bench(burst: 1)
    bench.run(Self.red)
    bench.wait(Self.red, 1)
    #expect(bench.release(Self.red) == nil)
  }

  @Test func `each origin has its own bucket`() {
    let bench = bench(burst: 1)
    bench.run(Self.red)
    bench.run(.test("http://red.example:8080"))
    #expect(!bench.enters(Self.red))
  }

  @Test func `closed host admits no call`() {
    let bench = bench(burst: 5)
    bench.run(Self.red)
    bench.close(Self.red, for: .seconds(60))
    bench.wait(Self.red, 1)
    #expect(bench.wake(at: Self.red) == .seconds(61), "the bucket is empty then")
    bench.now = .after(.seconds(60))
    #expect(bench.release(Self.red) == nil)
    bench.now = .after(.seconds(61))
    #expect(bench.admitNext(at: Self.red) == 1)
  }

  @Test func `host without a rate ignores closing`() {
    let bench = bench()
    bench.run(Self.blue)
    bench.close(Self.blue, for: .seconds(60))
    #expect(bench.enters(Self.blue))
  }

  @Test func `idle host keeps its empty bucket`() {
    let bench = Bench(AdmissionLimits(rates: [HostRate(".example", requests: 1, per: .seconds(3_600))]))
    bench.run(Self.red)
    #expect(bench.release(Self.red) == nil)
    for number in 0..<500 {
      bench.run(.test("http://h\(number).test"))
      #expect(bench.release(.test("http://h\(number).test")) == nil)
    }
    #expect(!bench.enters(Self.red), "removing the bucket would break the rate limit")
    bench.now = .after(.seconds(3_600))
    for number in 0..<500 {
      bench.run(.test("http://i\(number).test"))
      #expect(bench.release(.test("http://i\(number).test")) == nil)
    }
    #expect(bench.placesInUse <= 65)
    #expect(bench.enters(Self.red))
  }

  @Test func `rate limit can be set and removed`() {
    let bench = Bench(AdmissionLimits())
    bench.run(Self.red, 5)
    bench.change(AdmissionLimits(rates: [HostRate("red.example", requests: 1)]))
    bench.run(Self.red)
    bench.wait(Self.red, 1)
    #expect(bench.release(Self.red) == nil)
    #expect(bench.admitNext() == nil)
    bench.change(AdmissionLimits())
    #expect(bench.admitNext() == 1)
  }

  // MARK: - Limits of the server

  private func following(_ pace: ServerPace) -> Bench {
    let bench = Bench(AdmissionLimits(rates: [.followingServer("red.example")]))
    bench.run(Self.red)
    bench.learn(pace, from: Self.red)
    return bench
  }

  /// Admits as many waiters as possible.
  private func admissions(_ bench: Bench) -> Int {
    var count = 0
    while bench.admitNext(at: Self.red) != nil { count += 1 }
    return count
  }

  @Test(arguments: [
    ServerPace.limits([.rest(0, .seconds(30))], isRefused: false), .closed(.seconds(30)),
  ]) func `reset admits one call before a response`(pace: ServerPace) {
    let bench = following(pace)
    for number in 1...100 { bench.wait(Self.red, number) }
    bench.now = .after(.milliseconds(29_999))
    #expect(admissions(bench) == 0)
    bench.now = .after(.milliseconds(30_001))
    #expect(admissions(bench) == 1)
    bench.learn(.limits([.rest(10, .seconds(30))], isRefused: false), from: Self.red)
    #expect(admissions(bench) == 9, "the first exchange still runs and may not be counted")
  }

  @Test(arguments: [true, false]) func `failed probe is followed by the next`(hasResponse: Bool) {
    let bench = following(.closed(.seconds(30)))
    for number in 1...3 { bench.wait(Self.red, number) }
    bench.now = .after(.milliseconds(30_001))
    #expect(admissions(bench) == 1)
    for number in 2...3 {
      if hasResponse { bench.learn(.limits([], isRefused: true), from: Self.red) }
      #expect(bench.release(Self.red) == number && bench.admitNext(at: Self.red) == nil)
    }
  }

  @Test func `response of another resource lifts a policy`() {
    let bench = following(.limits([.rest(0, .seconds(3_600), of: "search")], isRefused: false))
    for number in 1...3 { bench.wait(Self.red, number) }
    bench.now = .after(.seconds(10))
    #expect(admissions(bench) == 1)
    bench.learn(.limits([.rest(4_999, .seconds(60), of: "core")], isRefused: false), from: Self.red)
    #expect(admissions(bench) == 2)
  }

  @Test(arguments: [(1, true), (2, false)])
  func `streams with response headers are not subtracted`(unanswered: Int, isAdmitted: Bool) {
    let bench = Bench(AdmissionLimits(rates: [.followingServer("red.example")]))
    for _ in 1...20 {
      bench.run(Self.red)
      bench.respond(at: Self.red)
    }
    #expect(bench.release(Self.red) == nil)
    bench.run(Self.red, unanswered)
    bench.learn(.limits([.rest(1, .seconds(30))], isRefused: false), from: Self.red)
    #expect(bench.enters(Self.red) == isAdmitted)
    #expect(!bench.enters(Self.red))
  }

  @Test(arguments: 0..<8) func `random load never exceeds the rate`(seed: UInt64) {
    var random = SeededNumbers(seed: seed)
    let bench = bench(perHost: 4, total: 6, burst: 3)
    var starts: [Int] = []
    var number = 0
    for second in 0..<400 {
      bench.now = .after(.seconds(second))
      while let waiter = bench.admitNext(at: Self.red) { if waiter > 0 { starts.append(second) } }
      for _ in 0..<random.next(below: 4) {
        number += 1
        if bench.enters(Self.red) { starts.append(second) } else { bench.wait(Self.red, number) }
      }
      for _ in 0..<random.next(below: 4) where bench.counts(at: "red.example").running > 0 {
        if bench.release(Self.red) != nil { starts.append(second) }
      }
    }
    #expect(starts.count > 100)
    for (index, start) in starts.enumerated() {
      let window = starts[index...].prefix { $0 < start + 10 }
      #expect(window.count <= 3 + 9, "burst and rate in any ten seconds")
    }
  }
}
