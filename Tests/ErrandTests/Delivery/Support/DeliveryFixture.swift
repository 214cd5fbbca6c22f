@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import TestSupport

/// The parts of one round of the delivery table: a client with a manual clock, a transport that a test holds back, and
/// all delivered events in order.
final class DeliveryFixture: Sendable {
  let events = Recorded<String>()
  let clock = ManualClock()
  /// The transport waits here.
  let exchange = Latch()
  /// The hook before completion waits here.
  let hook = Latch()
  /// Opened by the last accessory's `didStop`.
  let ended = Latch()
  let client: APIClient

  /// - Parameter change: Changes to the client's configuration.
  init(status: Int = 200, _ change: (inout ClientConfiguration) -> Void = { _ in }) {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { [exchange] _ in
        try await exchange.wait()
        return .text("value", status: status)
      })
    configuration.timers = clock
    configuration.accessories = [Noter("client", events)]
    change(&configuration)
    client = APIClient(configuration)
  }

  var request: ProbeRequest { ProbeRequest(events: events, hook: hook) }

  func options(owner: CallOwner? = nil) -> CallOptions {
    CallOptions(owner: owner, tag: "tagged", accessories: [Noter("call", events, ended: ended)])
  }

  /// The states of the running calls.
  var states: [CallState] { client.registry.running.map(\.state) }

  /// Everything that is left after the end; empty if nothing is.
  func leftovers() async -> [String] {
    let client = client
    var found: [String] = []
    if await !eventually({ client.running.isEmpty }) { found.append("\(client.running.count) calls run") }
    // A shared exchange is released in its own task, after the last call has left it.
    let joining = client.services.joining
    if await !eventually({ joining.counts == (0, 0) }) { found.append("exchanges \(joining.counts)") }
    if await !eventually({ client.admission == (0, 0) }) { found.append("admission \(client.admission)") }
    if await !eventually({ self.clock.pending == 0 }) { found.append("\(clock.pending) timers") }
    return found
  }
}
