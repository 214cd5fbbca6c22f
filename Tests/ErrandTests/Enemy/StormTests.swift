import ErrandSupport
import Errand
import ErrandCurl
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Ten thousand concurrent calls over real sockets, ended at random: each ends once, and nothing is left.
@Suite(.serialized) struct StormTests {
  private static let calls = isSanitized ? 2_000 : 10_000

  private struct Gust: APIRequest {
    typealias Response = String
    let number: Int
    var path: Path { "/\(number % 8)" }
    /// One call in three shares its exchange with equal calls.
    var arguments: Arguments { number.isMultiple(of: 3) ? [:] : ["number": number] }
  }

  private static func answer(_ request: RecordedRequest) -> LoopbackAnswer {
    switch request.path {
    case "/0": .ok("value").dripped(of: .body, every: .milliseconds(2))
    case "/1": .redirect(to: "/7")
    case "/2": .status(503, body: "busy")
    case "/3": .ok("value").cut(after: 2)
    case "/4": .chunked(["va", "lue"])
    case "/5": .ok("value").closing()
    default: .ok("value")
    }
  }

  /// The results of the calls.
  private final class Tally: Sendable {
    let ends = Locked<[Int]>(Array(repeating: 0, count: calls))
    let stages = Locked<[String: Int]>([:])
    let ended = Latch()
    private let left = Locked(calls)

    func note(_ number: Int, _ told: String) {
      ends.withLock { $0[number] += 1 }
      stages.withLock { $0[told, default: 0] += 1 }
      let isLast = left.withLock { left in
        left -= 1
        return left == 0
      }
      if isLast { ended.open() }
    }
  }

  /// Starts a call and stops it at a random moment, or not at all.
  private static func start(_ number: Int, _ client: APIClient, _ tally: Tally) {
    var random = SeededNumbers(seed: UInt64(number))
    let total: TimeLimit = number.isMultiple(of: 3) ? .milliseconds(Int.random(in: 1...3000, using: &random)) : .never
    let options = CallOptions(timeouts: Timeouts(total: total))
    let call = client.start(outcomeOf: Gust(number: number), on: .inPlace, options: options) {
      tally.note(number, $0.told)
    }
    if number.isMultiple(of: 5) { call.cancel() }
    if number.isMultiple(of: 7) { Task { call.cancel() } }
    if number.isMultiple(of: 11) {
      let moment = MonotonicInstant.now.advanced(by: .milliseconds(Int.random(in: 1...2000, using: &random)))
      _ = SharedTimers.shared.schedule(at: moment) { call.cancel() }
    }
  }

  /// Starts all calls at once and waits for their ends. Releases the client and the transport afterwards.
  private static func blow(_ url: String, _ tally: Tally, _ leaks: LeakCheck) async {
    let client = APIClient(baseURL: url)
    let transport = CurlTransport()
    leaks.watch(client, "client")
    leaks.watch(transport, "transport")
    client.configure {
      $0.transport = .own(transport)
      $0.admission = AdmissionLimits(perHost: 48, total: 48)
    }
    for number in 0..<calls { start(number, client, tally) }
    await tally.ended.waitStubbornly()
    #expect(await eventually { client.running.isEmpty })
    #expect(await eventually { client.admission == (0, 0) })
    #expect(await eventually { client.services.joining.counts == (0, 0) })
  }

  @Test func `ten thousand calls over sockets end once`() async throws {
    let server = try LoopbackServer(handler: Self.answer)
    // The first run shows the memory that the process needs in any case; the second run shows leaks.
    await Self.blow(server.url, Tally(), LeakCheck())
    let (descriptors, memory) = (ProcessUse.descriptors, ProcessUse.residentBytes)
    let tally = Tally()
    let leaks = LeakCheck()
    await Self.blow(server.url, tally, leaks)
    #expect(tally.ends.withLock { $0.allSatisfy { $0 == 1 } })
    let told = tally.stages.withLock { $0 }
    #expect(Set(told.keys) == ["success", "cancelled", "deadline", "validate", "transport"], "\(told)")
    #expect(await leaks.survivors(turns: 200_000).isEmpty)
    try await server.wait { $0.openConnectionCount == 0 }
    #expect(await eventually { ProcessUse.descriptors <= descriptors + 8 }, "\(ProcessUse.descriptors - descriptors)")
    let growth = ProcessUse.residentBytes - memory
    print("10,000 calls over sockets: \(told.sorted { $0.key < $1.key }), \(growth >> 20) MiB more")
    if !isSanitized { #expect(growth < 64 << 20) }
  }
}
