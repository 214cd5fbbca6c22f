import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import TestSupport

/// A client over a server that holds its responses and counts requests.
final class JoinFixture: Sendable {
  let clock = ManualClock()
  /// The server waits here.
  let exchange = Latch()
  let transport: ScriptedTransport
  let client: APIClient

  init(
    _ change: (inout ClientConfiguration) -> Void = { _ in },
    answer: @escaping @Sendable (HTTPRequest) throws -> ScriptedAnswer = { _ in .text("value") }
  ) {
    transport = ScriptedTransport { [exchange] request in
      try await exchange.wait()
      return try answer(request)
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.timers = clock
    change(&configuration)
    client = APIClient(configuration)
  }

  /// The number of requests that reached the server.
  var asked: Int { transport.requests.count }

  /// The running exchanges, and the calls that wait for them.
  var exchanges: (exchanges: Int, waiting: Int) { client.services.joining.counts }

  /// Returns when `count` calls wait for shared exchanges.
  func waiting(_ count: Int) async -> Bool { await eventually { exchanges.waiting == count } }

  /// Whether no exchange and no call is left.
  func isIdle() async -> Bool {
    await eventually {
      client.registry.running.isEmpty && exchanges == (0, 0) && client.admission == (0, 0) && clock.pending == 0
    }
  }
}
