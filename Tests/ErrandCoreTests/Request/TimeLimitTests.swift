import ErrandCore
import Testing

@Suite struct TimeLimitTests {
  @Test(arguments: [Double.infinity, .nan, .greatestFiniteMagnitude, 4e9])
  func `infinite seconds mean never`(seconds: Double) {
    #expect(TimeLimit.seconds(seconds) == .never)
  }

  @Test func `fractional seconds are exact`() {
    #expect(TimeLimit.seconds(0.25) == .milliseconds(250))
    #expect(TimeLimit.seconds(-.infinity) == .seconds(0))
  }
}
