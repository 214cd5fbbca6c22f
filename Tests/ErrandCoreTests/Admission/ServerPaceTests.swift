@testable import ErrandCore
import Foundation
import Testing

/// The pace that a response asks for, with the examples of draft-ietf-httpapi-ratelimit-headers-11.
struct ServerPaceTests {
  private func pace(
    _ lines: [String], policies: String? = nil, retryAfter: String? = nil, status: Int = 200, follows: Bool = true
  ) -> ServerPace {
    var fields = HTTPFields(lines.map { HTTPField("RateLimit", $0) })
    if let policies { fields.append(HTTPField("RateLimit-Policy", policies)) }
    if let retryAfter { fields.append(HTTPField(.retryAfter, retryAfter)) }
    return ServerPace.decide(status, fields, followsServer: follows)
  }

  private func limits(_ limits: ServerPace.Limit..., isRefused: Bool = false) -> ServerPace {
    .limits(limits, isRefused: isRefused)
  }

  @Test(
    arguments: [
      (["\"default\";r=50;t=30"], [.rest(50, .seconds(30), of: "default")]),
      (["default;r=0;t=10"], [.rest(0, .seconds(10), of: "default")]),
      (
        ["\"permin\";r=20;t=23, \"perhr\";r=399;t=2402"],
        [.rest(20, .seconds(23), of: "permin"), .rest(399, .seconds(2402), of: "perhr")]
      ),
      (
        ["\"permin\";r=20;t=23", "\"perhr\";r=3;t=2402"],
        [.rest(3, .seconds(2402), of: "perhr"), .rest(20, .seconds(23), of: "permin")]
      ),
      (["a;r=1;t=36000"], [.rest(1, .seconds(3_600))]), (["a;r=1, b;r=7;t=2"], [.rest(7, .seconds(2), of: "b")]),
      (["a;r=4;t=5;acme=1"], [.rest(4, .seconds(5))]),
    ] as [([String], [ServerPace.Limit])])
  func `each policy counts, strictest first`(lines: [String], expected: [ServerPace.Limit]) {
    #expect(pace(lines) == .limits(expected, isRefused: false))
    #expect(pace(lines, follows: false) == limits())
  }

  @Test(arguments: [
    [], [""], ["a;r=-1;t=5"], ["a;r=1;t=-5"], ["a;r=1.0;t=5"], ["a;r=\"1\";t=5"], ["a;r=1"], ["a;t=1"], ["5;r=1;t=5"],
    ["(a b);r=1;t=5"], ["a;r=1;t=5,"], ["limit=10, remaining=2, reset=5"], ["10, 2, 5"],
  ])
  func `other fields name no policy`(lines: [String]) {
    #expect(pace(lines) == limits())
  }

  @Test func `partition is part of the policy`() {
    let partition = StructuredField.Value.bytes(Data([1]))
    let policy = ServerPace.Policy(name: "a", partition: partition)
    #expect(pace(["a;r=4;t=5;pk=:AQ==:"]) == limits(.init(policy: policy, remaining: 4, reset: .seconds(5))))
  }

  @Test(arguments: [
    ("\"a\";q=9;qu=\"content-bytes\"", 1), ("\"a\";q=9;qu=\"concurrent-requests\"", 1),
    ("\"a\";q=9;qu=\"requests\"", 2),
    ("\"a\";q=9;qu=\"request\"", 2), ("\"a\";q=9;w=60", 2), ("\"c\";q=9;qu=\"content-bytes\"", 2),
    ("\"a\";q=9;qu=\"content-bytes\",", 2),
  ])
  func `only policies of requests count`(policies: String, count: Int) {
    let rest = [ServerPace.Limit.rest(0, .seconds(5)), .rest(3, .seconds(7), of: "b")].suffix(count)
    #expect(pace(["a;r=0;t=5, b;r=3;t=7"], policies: policies) == .limits(Array(rest), isRefused: false))
  }

  @Test func `eight strictest policies count`() {
    let line = (0..<20).reversed().map { "p\($0);r=\($0);t=5" }.joined(separator: ", ")
    let expected = (0..<8).map { ServerPace.Limit.rest($0, .seconds(5), of: "p\($0)") }
    #expect(pace([line]) == .limits(expected, isRefused: false))
  }

  @Test(arguments: [
    (429, true, ServerPace.closed(.seconds(7))), (429, false, .closed(.seconds(7))), (503, true, .closed(.seconds(7))),
    (503, false, .limits([], isRefused: true)), (200, false, .limits([], isRefused: false)),
  ])
  func `refusal with Retry-After closes the origin`(status: Int, follows: Bool, expected: ServerPace) {
    #expect(pace(["a;r=1;t=5"], retryAfter: "7", status: status, follows: follows) == expected)
  }

  @Test(arguments: [200, 202, 301]) func `Retry-After replaces the reset`(status: Int) {
    #expect(pace(["a;r=1;t=5"], retryAfter: "7", status: status) == limits(.rest(1, .seconds(7))))
    #expect(pace(["a;r=0;t=99"], retryAfter: "7", status: status) == limits(.rest(0, .seconds(7))))
    #expect(pace([], retryAfter: "7", status: status) == limits(), "it may concern only this request")
  }

  @Test func `long pause is cut`() {
    #expect(pace([], retryAfter: "1000000", status: 429) == .closed(.seconds(3_600)))
    #expect(pace(["a;r=0;t=5"], retryAfter: "soon", status: 429) == limits(.rest(0, .seconds(5)), isRefused: true))
  }
}
