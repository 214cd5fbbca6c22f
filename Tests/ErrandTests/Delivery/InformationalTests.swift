import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Informational (1xx) responses reach the accessories of a call before its end.
struct InformationalTests {
  /// Records what one call reports.
  private final class Hints: Accessory {
    let events = Recorded<String>()

    func received(_ call: CallInfo, informational head: ResponseHead) {
      events.append("\(head.status) \(head.fields["Link"] ?? "")")
    }
    func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) { events.append("end \(outcome.response?.status ?? 0)") }
  }

  private static let link = "</style.css>; rel=preload"

  private func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      let answer = request.path == "/moved" ? LoopbackAnswer.redirect(to: "/p") : .ok("page")
      return answer.informational(103, headers: ["Link": Self.link], times: 2)
    }
  }

  @Test(arguments: Carrier.allCases)
  func `accessories receive informational responses`(carrier: Carrier) async throws {
    let server = try server()
    let (own, shared) = (Hints(), Hints())
    let transport = carrier.transport()
    let client = transport.client(at: server) { $0.accessories = [shared] }
    #expect(try await client.send(Ask<String>(), options: CallOptions(accessories: [own])) == "page")
    for hints in [own, shared] { #expect(hints.events.all == ["103 \(Self.link)", "103 \(Self.link)", "end 200"]) }
    transport.expectToHaveCarriedAll(of: server)
  }

  @Test(arguments: Carrier.allCases)
  func `each hop reports informational responses`(carrier: Carrier) async throws {
    let server = try server()
    let hints = Hints()
    let client = carrier.transport().client(at: server)
    let options = CallOptions(accessories: [hints])
    let ended = Latch()
    client.start(outcomeOf: Ask<String>(path: "/moved"), on: .custom { $0() }, options: options) { _ in ended.open() }
    await ended.waitStubbornly()
    #expect(hints.events.all == Array(repeating: "103 \(Self.link)", count: 4) + ["end 200"])
  }

  @Test func `calls that share an exchange both receive them`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("page").informational(103).held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let all = [Hints(), Hints()]
    await withTaskGroup { group in
      for hints in all {
        group.addTask { _ = await client.outcome(of: Ask<String>(), options: CallOptions(accessories: [hints])) }
      }
      #expect(await eventually { client.services.joining.counts.waiting == 2 })
      gate.open()
    }
    for hints in all { #expect(hints.events.all == ["103 ", "end 200"]) }
    #expect(server.requests.count == 1)
  }

  @Test func `cancelled call reports none`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("page").informational(103).held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let hints = Hints()
    let ended = Latch()
    let options = CallOptions(accessories: [hints], joining: .never)
    let call = client.start(outcomeOf: Ask<String>(), on: .custom { $0() }, options: options) { _ in ended.open() }
    try await gate.reached()
    call.cancel()
    await ended.waitStubbornly()
    gate.open()
    #expect(hints.events.all == ["end 0"])
  }

  @Test func `cached response reports none`() async throws {
    let hints = Hints()
    let transport = ScriptedTransport { _ in
      var answer = ScriptedAnswer.text("page")
      answer.informational = [ResponseHead(status: 103)]
      return answer
    }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.cache.policy = .lifetime(.seconds(60))
    let client = APIClient(configuration)
    for _ in 0..<2 { _ = try await client.send(Ask<String>(), options: CallOptions(accessories: [hints])) }
    #expect(hints.events.all == ["103 ", "end 200", "end 200"])
  }
}
