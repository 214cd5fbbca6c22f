@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import TestSupport

/// What one round of the delivery table is made of: a client on a clock that stands, over a transport that a test
/// holds back, and everything that is told, in order.
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

  /// - Parameter change: What is different about the client.
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

  /// The states of the calls that run.
  var states: [CallState] { client.registry.running.map(\.state) }

  /// Whatever is left over after the end; empty where all is well.
  func leftovers() async -> [String] {
    let client = client
    var found: [String] = []
    if await !eventually({ client.running.isEmpty }) { found.append("\(client.running.count) calls run") }
    // A shared exchange lets go by itself, after the last call has left it.
    let flights = client.fittings.joining
    if await !eventually({ flights.counts == (0, 0) }) { found.append("flights \(flights.counts)") }
    if await !eventually({ client.admission == (0, 0) }) { found.append("admission \(client.admission)") }
    if await !eventually({ self.clock.pending == 0 }) { found.append("\(clock.pending) timers") }
    return found
  }
}

/// A request that notes its hooks and has an accessory of its own.
struct ProbeRequest: APIRequest {
  typealias Response = String

  let events: Recorded<String>
  let hook: Latch

  var path: Path { "/probe" }
  var accessories: [any Accessory] { [Noter("request", events)] }
  var hooks: CompletionHooks<String>? {
    CompletionHooks(
      before: { [events, hook] _ in
        events.append("before")
        try? await hook.wait()
      },
      after: { [events] in events.append("after \($0.told)") })
  }
}

/// An accessory that notes what it is told.
final class Noter: Accessory {
  private let name: String
  private let events: Recorded<String>
  private let ended: Latch?

  init(_ name: String, _ events: Recorded<String>, ended: Latch? = nil) {
    self.name = name
    self.events = events
    self.ended = ended
  }

  func willStart(_ call: CallInfo) { events.append("willStart \(name)") }
  func progressed(_ call: CallInfo, _ progress: TransferProgress) { events.append("progress \(name)") }
  func willStop(_ call: CallInfo, _ ending: CallEnding) { events.append("willStop \(name) \(ending.told)") }
  func didStop(_ call: CallInfo, _ ending: CallEnding) {
    events.append("didStop \(name) \(ending.told)")
    ended?.open()
  }
}

extension CallEnding {
  /// `success`, or the stage of the failure.
  var told: String { error.map(\.stage.rawValue) ?? "success" }
}

extension Outcome {
  /// `success`, or the stage of the failure.
  var told: String { error.map(\.stage.rawValue) ?? "success" }
}

/// A delegate that notes what it is told.
@MainActor final class NotingDelegate: CallDelegate {
  private let events: Recorded<String>

  init(_ events: Recorded<String>) { self.events = events }

  func requestFinished(_ call: FinishedCall) {
    events.append("told \(call.value(of: ProbeRequest.self) == "value" ? "success" : "nonsense")")
  }
  func requestFailed(_ call: FailedCall) { events.append("told \(call.error.stage.rawValue)") }
}

/// An object that a closure captures, to see whether the closure is let go.
final class Captured: Sendable {}
