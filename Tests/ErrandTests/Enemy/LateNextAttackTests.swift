import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// Interceptors that keep `next` after the call has ended.
struct LateNextAttackTests {
  @Test func `next fails after its call has ended`() async throws {
    let kept = Recorded<Next>()
    let bench = ScriptedClient(answers: [.text("first"), .text("second")]) {
      $0.interceptors.calls = [
        Around { request, _, next in
          kept.append(next)
          return try await next(request)
        }
      ]
    }
    #expect(try await bench.client.send(Ask<String>()) == "first")
    let next = try #require(kept.takeFirst())
    let request = try #require(bench.transport.requests.first)
    await #expect(throws: CallState.Stopped.self) { _ = try await next(request) }
    #expect(bench.transport.requests.count == 1 && bench.client.admission == (0, 0))
  }
}
