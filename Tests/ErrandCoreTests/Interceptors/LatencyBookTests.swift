@testable import ErrandCore
import Testing

/// The response time from which an exchange counts as slow.
struct LatencyBookTests {
  private func book(_ count: Int) -> LatencyBook {
    var book = LatencyBook()
    for number in 0..<count { book.note(.milliseconds(number)) }
    return book
  }

  @Test(arguments: [(0, nil), (19, nil), (20, 19), (100, 95), (128, 121), (228, 221)])
  func `quantile covers the latest response times`(count: Int, milliseconds: Int?) {
    #expect(book(count).time(of: 0.95) == milliseconds.map { .milliseconds($0) })
  }

  @Test(arguments: [(-1.0, 0), (0, 0), (0.5, 50), (1, 99), (7, 99), (.nan, 0)])
  func `quantile outside 0...1 is clamped`(share: Double, milliseconds: Int) {
    #expect(book(100).time(of: share) == .milliseconds(milliseconds))
  }

  @Test func `hedge rule computes its delay`() {
    #expect(HedgeRule.after(.seconds(1)).delay(nil) == .seconds(1))
    #expect(HedgeRule.slowerThan(0.95).delay(nil) == nil && HedgeRule.slowerThan(0.95).delay(book(10)) == nil)
    #expect(HedgeRule.slowerThan(0.95).delay(book(100)) == .milliseconds(95))
    #expect(HedgeRule.slowerThan(0.95, least: .seconds(1)).delay(book(100)) == .seconds(1))
  }
}
