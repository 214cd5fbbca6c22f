import ErrandCore
import Testing

@testable import ErrandTransfer

/// How long a body pauses to keep to a rate.
struct RateLimiterTests {
  @Test(arguments: [1, 50_000, 700_000] as [Int64]) func `the rate is kept`(piece: Int64) {
    let start = MonotonicInstant(nanoseconds: 0)
    var now = start
    var limiter = RateLimiter(1_000_000, at: now)
    var count: Int64 = 0
    while count < 5_000_000 {
      count += piece
      if let pause = limiter.take(piece, at: now) { now = now.advanced(by: pause) }
      if piece == 1, count == 200_000 { break }
    }
    // The burst is a tenth of a second's bytes.
    let expected = Double(count - 100_000) / 1e6
    let elapsed =
      Double(start.duration(to: now).components.attoseconds) / 1e18
      + Double(start.duration(to: now).components.seconds)
    #expect(abs(elapsed - expected) < 0.01)
  }

  @Test(arguments: [0, -5] as [Int64]) func `a rate below 1 becomes 1`(rate: Int64) {
    let now = MonotonicInstant(nanoseconds: 0)
    var limiter = RateLimiter(rate, at: now)
    #expect(limiter.take(11, at: now) == .seconds(10))
  }

  @Test func `idle time gives no extra burst`() {
    let now = MonotonicInstant(nanoseconds: 0)
    var limiter = RateLimiter(1_000, at: now)
    let later = now.advanced(by: .seconds(100))
    #expect(limiter.take(1_100, at: later) == .seconds(1))
  }
}
