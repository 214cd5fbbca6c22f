import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

@Suite(.serialized) struct DeadlineLatenessTests {
  private struct Silent: APIRequest {
    var path: Path { "/silent" }
  }

  /// How late 20 calls end, in order.
  private func lateness(_ body: () async throws -> Duration) async throws -> [Duration] {
    var all: [Duration] = []
    for _ in 0..<20 { all.append(try await body()) }
    return all.sorted()
  }

  private func judge(_ late: [Duration], _ name: String) {
    print("\(name): late by \(late[10]) (median of 20), worst \(late[19])")
    if !isSanitized { #expect(late[10] < .milliseconds(100)) }
  }

  @Test func `deadline ends send in time`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let client = APIClient(baseURL: server.url)
    let late = try await lateness {
      let start = ContinuousClock.now
      let outcome = await client.outcome(of: Silent(), options: .deadline(.milliseconds(30)))
      #expect(outcome.error?.stage == .deadline)
      return start.duration(to: .now) - .milliseconds(30)
    }
    #expect(late[0] >= .zero)
    judge(late, "deadline of 30 ms")
  }

  @Test func `cancel ends send at once`() async throws {
    let server = try LoopbackServer { _ in .stall() }
    let client = APIClient(baseURL: server.url)
    var number = 0
    let late = try await lateness {
      number += 1
      async let outcome = client.outcome(of: Silent())
      try await server.request(number: number)
      let start = ContinuousClock.now
      client.cancelAll()
      #expect(await outcome.error?.isCancelled == true)
      return start.duration(to: .now)
    }
    judge(late, "cancel")
  }
}
