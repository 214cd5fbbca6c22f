import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Overloaded servers that send Retry-After, over real sockets with a manual clock.
struct RetryStormTests {
  private struct Get: APIRequest {
    typealias Response = String
    let number: Int
    var path: Path { "/\(number)" }
  }

  private static let calls = 400

  @Test(arguments: [429, 503], [nil, 7])
  func `retry storm obeys Retry-After and budget`(status: Int, seconds: Int?) async throws {
    let clock = ManualClock()
    let stated = Duration.seconds(seconds ?? 0)
    let answer: LoopbackAnswer = seconds.map { .status(status, headers: ["Retry-After": "\($0)"]) } ?? .status(status)
    let times = Locked<[String: [MonotonicInstant]]>([:])
    let server = try LoopbackServer { request in
      times.withLock { $0[request.path, default: []].append(clock.now) }
      return answer
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.timers = clock
    configuration.retries = RetryPolicy(attempts: 3, busyDelay: .seconds(2))
    let client = APIClient(configuration)

    async let outcomes = withTaskGroup { group in
      for number in 0..<Self.calls {
        group.addTask { await client.outcome(of: Get(number: number), options: .deadline(.never)) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    // Every call was rejected once. A hundred calls paid for a second attempt and wait.
    #expect(await eventually { server.requests.count == Self.calls && clock.pending == 100 })
    if stated > .zero {
      clock.advance(by: stated - .milliseconds(1))
      #expect(clock.pending == 100 && server.requests.count == Self.calls, "no request is sent before Retry-After")
    }
    let turning = Task { @concurrent in
      while !Task.isCancelled {
        clock.advance(by: .milliseconds(100))
        await Task.yield()
      }
    }
    let ended = await outcomes
    turning.cancel()
    #expect(ended.allSatisfy { $0.error?.status == status })
    #expect(server.requests.count == Self.calls + 100, "the budget of a host is a hundred attempts")
    for moments in times.withLock({ $0.values }) where moments.count > 1 {
      #expect(moments.count == 2 && moments[0].duration(to: moments[1]) >= stated)
    }
  }
}
