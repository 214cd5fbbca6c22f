import ErrandCore
import Testing

struct TimeLimitTests {
  @Test(arguments: [Double.infinity, .nan, .greatestFiniteMagnitude, 4e9])
  func `infinite seconds mean never`(seconds: Double) {
    #expect(TimeLimit.seconds(seconds) == .never)
  }

  @Test func `fractional seconds are exact`() {
    #expect(TimeLimit.seconds(0.25) == .milliseconds(250))
    #expect(TimeLimit.seconds(-.infinity) == .seconds(0))
  }

  @Test func `durations are time-outs`() {
    let limit = Duration.seconds(3)
    #expect(Timeouts(total: limit) == Timeouts(total: .seconds(3)))
    #expect(Timeouts(connect: .seconds(1), total: limit) == Timeouts(connect: .after(.seconds(1)), total: .seconds(3)))
    #expect(CallOptions.deadline(limit).timeouts == Timeouts(total: .seconds(3)) && Timeouts() == .inherited)
  }
}
