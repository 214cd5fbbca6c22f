@testable import ErrandCore
import Testing

/// The response time from which an exchange counts as slow.
struct LatencyHistoryTests {
  private func history(_ count: Int) -> LatencyHistory {
    var history = LatencyHistory()
    for number in 0..<count { history.add(.milliseconds(number)) }
    return history
  }

  @Test(arguments: [(0, nil), (19, nil), (20, 19), (100, 95), (128, 121), (228, 221)])
  func `quantile covers the latest response times`(count: Int, milliseconds: Int?) {
    #expect(history(count).time(of: 0.95) == milliseconds.map { .milliseconds($0) })
  }

  @Test(arguments: [(-1.0, 0), (0, 0), (0.5, 50), (1, 99), (7, 99), (.nan, 0)])
  func `quantile outside 0...1 is clamped`(share: Double, milliseconds: Int) {
    #expect(history(100).time(of: share) == .milliseconds(milliseconds))
  }

  @Test func `hedge rule computes its delay`() {
    #expect(HedgeRule.after(.seconds(1)).delay(nil) == .seconds(1))
    #expect(HedgeRule.slowerThan(0.95).delay(nil) == nil && HedgeRule.slowerThan(0.95).delay(history(10)) == nil)
    #expect(HedgeRule.slowerThan(0.95).delay(history(100)) == .milliseconds(95))
    #expect(HedgeRule.slowerThan(0.95, least: .seconds(1)).delay(history(100)) == .seconds(1))
  }
}
