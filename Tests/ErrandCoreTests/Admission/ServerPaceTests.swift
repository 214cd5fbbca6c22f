@testable import ErrandCore
import Testing

/// The pace that a response asks for, with the examples of draft-ietf-httpapi-ratelimit-headers-11.
struct ServerPaceTests {
  private func pace(
    _ lines: [String], retryAfter: String? = nil, status: Int = 200, running: Int = 0, follows: Bool = true
  ) -> ServerPace {
    var fields = HTTPFields(lines.map { HTTPField("RateLimit", $0) })
    if let retryAfter { fields.append(HTTPField(.retryAfter, retryAfter)) }
    return ServerPace.decide(status, fields, running: running, followsServer: follows)
  }

  @Test(
    arguments: [
      (["\"default\";r=50;t=30"], .quota(50, .seconds(30))), (["default;r=0;t=10"], .quota(0, .seconds(10))),
      (["\"permin\";r=20;t=23, \"perhr\";r=399;t=2402"], .quota(20, .seconds(23))),
      (["\"permin\";r=20;t=23", "\"perhr\";r=3;t=2402"], .quota(3, .seconds(2402))),
      (["a;r=5;t=1, b;r=5;t=9"], .quota(5, .seconds(9))), (["a;r=1;t=36000"], .quota(1, .seconds(3_600))),
      (["a;r=1, b;r=7;t=2"], .quota(7, .seconds(2))), (["a;r=4;t=5;pk=:AQ==:;acme=1"], .quota(4, .seconds(5))),
    ] as [([String], ServerPace)])
  func `strictest policy decides`(lines: [String], expected: ServerPace) {
    #expect(pace(lines) == expected)
    #expect(pace(lines, follows: false) == .unlimited)
  }

  @Test(arguments: [
    [], [""], ["a;r=-1;t=5"], ["a;r=1;t=-5"], ["a;r=1.0;t=5"], ["a;r=\"1\";t=5"], ["a;r=1"], ["a;t=1"], ["5;r=1;t=5"],
    ["(a b);r=1;t=5"], ["a;r=1;t=5,"], ["limit=10, remaining=2, reset=5"], ["10, 2, 5"],
  ])
  func `other fields ask for nothing`(lines: [String]) {
    #expect(pace(lines) == .unlimited)
  }

  @Test(arguments: [(10, 0, 10), (10, 3, 7), (2, 2, 0), (2, 9, 0), (2, -1, 2)])
  func `running exchanges are subtracted`(remaining: Int64, running: Int, left: Int64) {
    #expect(pace(["a;r=\(remaining);t=5"], running: running) == .quota(left, .seconds(5)))
  }

  @Test(arguments: [
    (429, true, ServerPace.closed(.seconds(7))), (429, false, .closed(.seconds(7))), (503, true, .closed(.seconds(7))),
    (503, false, .unlimited), (200, true, .quota(1, .seconds(5))), (301, true, .quota(1, .seconds(5))),
  ])
  func `Retry-After has precedence`(status: Int, follows: Bool, expected: ServerPace) {
    #expect(pace(["a;r=1;t=5"], retryAfter: "7", status: status, follows: follows) == expected)
  }

  @Test func `long pause is cut`() {
    #expect(pace([], retryAfter: "1000000", status: 429) == .closed(.seconds(3_600)))
    #expect(pace(["a;r=0;t=5"], retryAfter: "soon", status: 429) == .quota(0, .seconds(5)))
  }
}
