@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport

/// A client with a manual clock, over a scripted server that records its requests.
final class GroupServer: Sendable {
  /// Held responses wait here.
  let latch = Latch()
  /// Failing responses wait here.
  let breaks = Latch()
  let clock = ManualClock()
  let transport: ScriptedTransport
  let client: APIClient
  private let flow: Flow

  /// The number of running exchanges, and its peak.
  private final class Flow: Sendable {
    private let counts = Locked((now: 0, peak: 0))

    var peak: Int { counts.withLock { $0.peak } }

    func enter() {
      counts.withLock { counts in
        counts.now += 1
        counts.peak = max(counts.peak, counts.now)
      }
    }

    func leave() { counts.withLock { $0.now -= 1 } }
  }

  init(_ change: (inout ClientConfiguration) -> Void = { _ in }) {
    let flow = Flow()
    self.flow = flow
    transport = ScriptedTransport { [latch, breaks, clock] request in
      flow.enter()
      defer { flow.leave() }
      let name = request.url.path.split(separator: "/").last.map(String.init) ?? ""
      switch request.url.path.split(separator: "/").first {
      case "held": try await latch.wait()
      case "broken":
        try await breaks.wait()
        return .text("no", status: 500)
      case "timed": clock.advance(by: .milliseconds(Int(name) ?? 0))
      case "moved":
        return ScriptedAnswer(status: 302, fields: ["Location": "/words/\(name)"], body: Data("gone elsewhere".utf8))
      default: break
      }
      return .text(name)
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.timers = clock
    configuration.overlap.joining = .never
    change(&configuration)
    client = APIClient(configuration)
  }

  /// The largest number of concurrent exchanges.
  var peak: Int { flow.peak }

  /// The requested paths, in order.
  var paths: [String] { transport.requests.map(\.url.path) }

  /// Everything that is left after the end; empty if nothing is.
  func leftovers() async -> [String] {
    let client = client
    let registry = client.registry
    var found: [String] = []
    if await !eventually({ registry.running.isEmpty }) { found.append("\(registry.running.count) run") }
    if await !eventually({ client.admission == (0, 0) }) { found.append("admission \(client.admission)") }
    if await !eventually({ self.clock.pending == 0 }) { found.append("\(clock.pending) timers") }
    return found
  }
}
