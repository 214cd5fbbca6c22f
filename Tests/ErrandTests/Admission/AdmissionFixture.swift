import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// A client with a manual clock, over a transport that holds its first exchange until the test opens the latch.
final class AdmissionFixture: Sendable {
  /// A request whose name is its path.
  struct Named: APIRequest {
    typealias Response = String
    let name: String
    var host = "h.example"
    var path: Path { RequestPath(stringLiteral: "http://\(host)/\(name)") }
  }

  let clock = ManualClock()
  /// While it is closed, it holds every exchange.
  let latch = Latch()
  /// The names in the order in which they are sent.
  let sent = Recorded<String>()
  /// The names and results of calls, in order.
  let ended = Recorded<String>()
  let client: APIClient

  init(
    _ limits: AdmissionLimits = AdmissionLimits(perHost: 1), answering answer: ScriptedAnswer = .text(""),
    _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { [sent, latch] request in
        sent.append(String(request.url.path.dropFirst()))
        try await latch.wait()
        return answer
      })
    configuration.timers = clock
    configuration.overlap.joining = .never
    configuration.admission = limits
    change(&configuration)
    client = APIClient(configuration)
  }

  /// Starts a call and returns when it runs or waits for its turn, so that the next call is after it.
  @discardableResult
  func start(
    _ name: String, _ priority: CallPriority? = nil, owner: CallOwner? = nil, host: String = "h.example",
    total: TimeLimit = .never
  ) async -> Call {
    let before = client.admission.running + client.admission.waiting
    let options = CallOptions(timeouts: Timeouts(total: total), priority: priority, owner: owner)
    let call = client.start(outcomeOf: Named(name: name, host: host), on: .inPlace, options: options) { [ended] in
      ended.append("\(name) \($0.told)")
    }
    #expect(await eventually { client.admission.running + client.admission.waiting > before })
    return call
  }

  /// Releases all exchanges and waits for the end of all calls.
  func finish() async {
    latch.open()
    #expect(await eventually { client.registry.running.isEmpty }, "\(client.admission)")
    #expect(await eventually { client.admission == (0, 0) }, "\(client.admission)")
    #expect(await eventually { clock.pending == 0 }, "no timer is left")
  }
}
