import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// The field `RateLimit` over a real socket, with each transport.
struct RateLimitSocketTests {
  private struct Page: APIRequest {
    typealias Response = String
    let number: Int
    var path: Path { "/page/\(number)" }
  }

  @Test(arguments: Carrier.allCases) func `server is not asked beyond its limit`(carrier: Carrier) async throws {
    let server = try LoopbackServer { request in
      .ok(request.path).setting("RateLimit", to: "\"hour\";r=100;t=3600, \"second\";r=0;t=60")
    }
    defer { server.stop() }
    let clock = ManualClock()
    let transport = carrier.transport()
    let client = transport.client(at: server) {
      $0.timers = clock
      $0.admission.rates = [.followingServer("127.0.0.1")]
    }
    #expect(try await client.send(Page(number: 1)) == "/page/1")
    let second = Task { await client.outcome(of: Page(number: 2)) }
    #expect(await eventually { client.admission.waiting == 1 })
    #expect(server.requests.count == 1)
    clock.advance(by: .seconds(60))
    #expect(await second.value.value == "/page/2")
    #expect(server.requests.count == 2)
    transport.expectToHaveCarriedAll(of: server)
  }
}
