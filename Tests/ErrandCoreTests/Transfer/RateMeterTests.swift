import Testing

@testable import ErrandCore

struct RateMeterTests {
  static func moment(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: 5_000_000_000 + milliseconds * 1_000_000)
  }

  private static func meter(_ steps: Range<Int64>, every: Int64 = 10, bytes: Int64 = 100) -> RateMeter {
    var meter = RateMeter(start: moment(steps.lowerBound))
    for step in stride(from: steps.lowerBound + every, through: steps.upperBound, by: Int(every)) {
      meter.add(bytes, at: moment(step))
    }
    return meter
  }

  private static func isNear(_ rate: Double?, _ expected: Double) -> Bool {
    rate.map { abs($0 - expected) < expected * 0.001 } ?? false
  }

  @Test(arguments: [100, 1_000, 60_000] as [Int64]) func `steady stream has its rate immediately`(length: Int64) {
    #expect(Self.isNear(Self.meter(0..<length).rate(at: Self.moment(length)), 10_000))
  }

  @Test func `short interval gives no rate`() {
    #expect(Self.meter(0..<90).rate(at: Self.moment(90)) == nil)
    #expect(RateMeter(start: Self.moment(0)).timeLeft(for: 1, at: Self.moment(50)) == nil)
  }

  @Test func `silence lowers the rate`() throws {
    let meter = Self.meter(0..<30_000)
    let later = try #require(meter.rate(at: Self.moment(33_000)))
    #expect(later > 3_600 && later < 3_800)
  }

  @Test func `new rate is adopted within seconds`() throws {
    var meter = Self.meter(0..<30_000)
    for step in stride(from: Int64(30_100), through: 45_000, by: 100) { meter.add(10_000, at: Self.moment(step)) }
    #expect(try abs(#require(meter.rate(at: Self.moment(45_000))) - 100_000) < 1_000)
  }

  @Test func `time left is remaining bytes by rate`() throws {
    let meter = Self.meter(0..<10_000)
    let now = Self.moment(10_000)
    let left = try #require(meter.timeLeft(for: 50_000, at: now))
    #expect(abs(left.clampedNanoseconds - 5_000_000_000) < 10_000_000)
    #expect(meter.timeLeft(for: 0, at: now) == .zero && meter.timeLeft(for: -1, at: now) == .zero)
    #expect(meter.timeLeft(for: .max, at: now) == nil)
  }

  @Test func `no bytes give zero rate and no time left`() {
    let meter = RateMeter(start: Self.moment(0))
    #expect(meter.rate(at: Self.moment(500)) == 0 && meter.timeLeft(for: 1, at: Self.moment(500)) == nil)
  }

  @Test func `extreme input does not trap`() {
    var meter = RateMeter(start: Self.moment(1_000))
    meter.add(.max, at: Self.moment(0))
    meter.add(.max, at: Self.moment(2_000))
    meter.add(-5, at: Self.moment(3_000))
    #expect((meter.rate(at: Self.moment(3_000)) ?? -1) >= 0)
    #expect((meter.rate(at: MonotonicInstant(nanoseconds: .min)) ?? -1) >= 0)
  }

  @Test func `restart clears the rate`() {
    var meter = Self.meter(0..<10_000)
    meter.restart(at: Self.moment(10_000))
    #expect(meter.rate(at: Self.moment(10_010)) == nil)
  }
}
