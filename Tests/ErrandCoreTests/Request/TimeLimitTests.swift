import ErrandCore
import Testing

@Suite struct TimeLimitTests {
  @Test(arguments: [Double.infinity, .nan, .greatestFiniteMagnitude, 4e9])
  func `endless seconds are never`(seconds: Double) {
    #expect(TimeLimit.seconds(seconds) == .never)
  }

  @Test func `seconds are exact below one`() {
    #expect(TimeLimit.seconds(0.25) == .milliseconds(250))
    #expect(TimeLimit.seconds(-.infinity) == .seconds(0))
  }
}
