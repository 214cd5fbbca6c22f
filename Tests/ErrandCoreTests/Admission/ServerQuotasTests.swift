@testable import ErrandCore
import Foundation
import TestSupport
import Testing

/// The limits that the responses of an origin name, moment by moment.
struct ServerQuotasTests {
  private let quotas = Held(ServerQuotas())

  /// Handles a response that names the given policies, a number of seconds after the start.
  private func learn(_ limits: ServerPace.Limit..., at second: Int = 0, unanswered: Int = 0, isRefused: Bool = false) {
    quotas.on { $0.learn(limits, unanswered: unanswered, isRefused: isRefused, since: .after(.seconds(second))) }
  }

  private func opens(at second: Int) -> Bool { quotas.value.next.map { $0 <= .after(.seconds(second)) } ?? true }

  /// Starts as many exchanges as possible at the given second, and returns their number, at most 100.
  private func starts(at second: Int) -> Int {
    var count = 0
    while count < 100, opens(at: second) {
      quotas.on { $0.take(.after(.seconds(second))) }
      count += 1
    }
    return count
  }

  @Test func `no response limits nothing`() {
    #expect(quotas.value.next == nil && quotas.value.isOver(.start) && starts(at: 0) == 100)
  }

  @Test func `fewest remaining requests decide`() {
    learn(.rest(7, .seconds(60), of: "minute"), .rest(3, .seconds(3_600), of: "hour"))
    #expect(starts(at: 0) == 3)
  }

  @Test func `longer policy limits after shorter reset`() {
    learn(.rest(0, .seconds(1), of: "second"), .rest(1, .seconds(50), of: "day"))
    #expect(!opens(at: 0) && starts(at: 1) == 1)
    learn(.rest(5, .seconds(1), of: "second"), .rest(0, .seconds(48), of: "day"), at: 2)
    #expect(!opens(at: 49) && opens(at: 50))
  }

  @Test(arguments: [
    (60, [60, 70, 80]), (5, [5, 15, 25]), (0, [0, 10, 20]), (61, [10, 61, 71]), (90, [10, 20, 30, 90]),
    (85, [10, 20, 30, 85]), (3_600, [10, 20, 30, 40]),
  ])
  func `probes start at reset or before a far one`(reset: Int, expected: [Int]) {
    learn(.rest(0, .seconds(reset)))
    var probes: [Int] = []
    for second in 0...100 where probes.count < expected.count && starts(at: second) > 0 { probes.append(second) }
    #expect(probes == expected)
  }

  @Test func `probe starts alone`() {
    learn(.rest(2, .seconds(3_600)))
    #expect(starts(at: 0) == 2, "the last request of the policy is no probe")
    #expect(starts(at: 10) == 1)
  }

  @Test(arguments: [(5, 5, 5), (0, 0, 0), (62, 10, 62), (3_600, 10, 20)])
  func `ended probe is followed at the reset`(reset: Int, first: Int, next: Int) {
    learn(.rest(0, .seconds(reset)))
    #expect(starts(at: first) == 1 && !opens(at: first))
    quotas.on { $0.endProbe() }
    #expect(!opens(at: next - 1) || next == first)
    #expect(opens(at: next))
  }

  @Test func `reset does not renew a policy`() {
    learn(.rest(2, .seconds(5)))
    #expect(starts(at: 100) == 3, "two are left, and the reset admits a probe")
    #expect(quotas.value.isOver(.after(.seconds(5))) && !quotas.value.isOver(.after(.seconds(4))))
  }

  @Test func `response replaces numbers of its policies`() {
    learn(.rest(0, .seconds(30), of: "a"), .rest(5, .seconds(30), of: "b"))
    learn(.rest(9, .seconds(30), of: "a"), at: 1)
    #expect(starts(at: 1) == 5)
  }

  @Test(arguments: [(1, 4), (0, 0)]) func `newest response of a policy counts`(second: Int, left: Int) {
    learn(.rest(0, .seconds(30)), at: 1)
    learn(.rest(4, .seconds(30)), at: second)
    #expect(starts(at: 1) == left)
  }

  @Test func `response without exhausted policy removes it`() {
    learn(.rest(0, .seconds(3_600), of: "search"), .rest(2, .seconds(3_600), of: "core"))
    learn(.rest(2, .seconds(3_600), of: "core"), at: 1)
    #expect(starts(at: 1) == 2)
  }

  @Test func `response without any policy removes it`() {
    learn(.rest(0, .seconds(3_600)))
    learn(at: 1)
    #expect(starts(at: 1) == 100)
  }

  @Test func `refusal removes no policy`() {
    learn(.rest(0, .seconds(30)))
    learn(at: 1, isRefused: true)
    learn(.rest(4, .seconds(30), of: "b"), at: 1, isRefused: true)
    #expect(!opens(at: 29))
  }

  @Test func `older response removes no policy`() {
    learn(.rest(0, .seconds(30)), at: 2)
    learn(at: 1)
    #expect(!opens(at: 29))
  }

  @Test func `policy with requests left stays`() {
    learn(.rest(2, .seconds(3_600), of: "search"))
    learn(.rest(9, .seconds(3_600), of: "core"), at: 1)
    #expect(starts(at: 1) == 2)
  }

  @Test(arguments: [(10, 0, 10), (10, 3, 7), (2, 2, 0), (2, 9, 0), (2, -1, 2)])
  func `exchanges without response are subtracted`(remaining: Int64, unanswered: Int, left: Int) {
    learn(.rest(remaining, .seconds(5)), unanswered: unanswered)
    #expect(starts(at: 0) == left)
  }

  @Test func `partitions of a policy count separately`() {
    let policies = [1, 2].map { ServerPace.Policy(name: "a", partition: .bytes(Data([$0]))) }
    learn(.init(policy: policies[0], remaining: 3, reset: .seconds(30)))
    learn(.init(policy: policies[1], remaining: 9, reset: .seconds(30)))
    #expect(starts(at: 0) == 3)
  }

  @Test func `unused request can be put back`() {
    learn(.rest(1, .seconds(30)))
    #expect(starts(at: 0) == 1)
    quotas.on { $0.giveBack() }
    #expect(starts(at: 1) == 1 && starts(at: 30) == 1 && !opens(at: 39))
    quotas.on { $0.giveBack() }
    #expect(opens(at: 30), "the probe was not sent")
  }

  @Test func `eight newest policies are kept`() {
    learn(.rest(1, .seconds(30), of: "old"))
    for number in 2...9 { learn(.rest(Int64(number), .seconds(30), of: "p\(number)"), at: 1) }
    #expect(starts(at: 1) == 2, "the oldest policy is forgotten")
  }

  @Test func `Retry-After replaces policies until a response`() {
    learn(.rest(0, .seconds(3_600)))
    quotas.on { $0.close(until: .after(.seconds(300))) }
    learn(at: 299)
    #expect(!opens(at: 299) && starts(at: 300) == 1 && !opens(at: 309))
    learn(at: 301)
    #expect(starts(at: 301) == 100)
  }

  @Test(arguments: [Int64.min, 0, .max]) func `extreme moments do not trap`(nanoseconds: Int64) {
    let now = MonotonicInstant(nanoseconds: nanoseconds)
    quotas.on { $0.learn([.rest(0, .seconds(Int64.max))], unanswered: .max, isRefused: false, since: now) }
    for moment in [now, MonotonicInstant(nanoseconds: .max), MonotonicInstant(nanoseconds: .min)] {
      quotas.on { $0.take(moment) }
      quotas.on { $0.giveBack() }
      quotas.on { $0.close(until: moment) }
      #expect(quotas.value.next != nil)
    }
  }
}
