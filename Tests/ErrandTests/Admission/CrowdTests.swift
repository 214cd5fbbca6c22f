import ErrandSupport
import Errand
import ErrandCurl
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Ten thousand concurrent calls through one client over a real socket: few sockets, little memory, no leaks.
@Suite(.serialized) struct CrowdTests {
  private static let calls = isSanitized ? 2_000 : 10_000
  private static let sockets = 16
  /// The largest allowed memory of a waiting call in bytes. A build without optimisation keeps every intermediate value
  /// as well.
  private static func most(_ joining: JoinRule) -> Int {
    #if DEBUG
      joining == .never ? 32 << 10 : 40 << 10
    #else
      16 << 10
    #endif
  }

  /// Each request has a separate URL, so that no two calls can share an exchange.
  private struct Ask: APIRequest {
    typealias Response = String
    let number: Int
    var path: Path { "/ask/\(number)" }
  }

  /// The results of the calls. One lock protects all of them, so a counted call has also been delivered.
  private final class Tally: Sendable {
    private struct Notes {
      var ends: [Int: Int] = [:]
      var results: [String: Int] = [:]
    }

    private let notes = Locked(Notes())

    func note(_ number: Int, _ outcome: Outcome<String>) {
      let result = outcome.value == "/ask/\(number)" ? "right" : outcome.told
      notes.withLock {
        $0.ends[number, default: 0] += 1
        $0.results[result, default: 0] += 1
      }
    }

    var count: Int { notes.withLock { $0.ends.count } }
    var eachOnce: Bool { notes.withLock { $0.ends.values.allSatisfy { $0 == 1 } } }
    var told: [String: Int] { notes.withLock { $0.results } }
  }

  /// A server that holds every response at a gate and records the largest number of open sockets.
  private final class Host: Sendable {
    private struct Weak: Sendable {
      weak let server: LoopbackServer?
    }

    private final class Peak: Sendable {
      let server = Locked(Weak(server: nil))
      let most = Locked(0)

      func note() {
        let open = server.withLock { $0.server }?.openConnectionCount ?? 0
        most.withLock { $0 = max($0, open) }
      }
    }

    let gate = Gate()
    let server: LoopbackServer
    private let peak = Peak()

    init() throws {
      server = try LoopbackServer { [gate, peak] request in
        peak.note()
        return .ok(request.path).held(at: gate)
      }
      peak.server.withLock { [server] in $0 = Weak(server: server) }
    }

    var mostSockets: Int { peak.most.withLock { $0 } }
  }

  /// Sends the calls, holds them at the server's gate and releases them. Returns the bytes that one waiting call takes.
  private static func send(
    _ calls: Int, _ joining: JoinRule, _ host: Host, _ tally: Tally, _ leaks: LeakCheck
  ) async -> Int {
    let client = APIClient(baseURL: host.server.url)
    let transport = CurlTransport()
    leaks.watch(client, "client")
    leaks.watch(transport, "transport")
    client.configure {
      $0.transport = .own(transport)
      $0.overlap.joining = joining
      $0.timeouts = Timeouts(idle: .never, total: .never)
      $0.admission = AdmissionLimits(perHost: sockets, total: 4 * sockets)
    }
    giveBackFreeMemory()
    let memory = ProcessUse.residentBytes
    for number in 0..<calls {
      client.start(outcomeOf: Ask(number: number), on: .inPlace) { tally.note(number, $0) }
    }
    #expect(await eventually(turns: 5_000_000) { client.admission == (sockets, calls - sockets) })
    let each = (ProcessUse.residentBytes - memory) / calls
    host.gate.open()
    #expect(await eventually(turns: 50_000_000) { tally.count == calls })
    #expect(await eventually { client.running.isEmpty })
    #expect(await eventually { client.admission == (0, 0) })
    return each
  }

  /// Without this the calls would reuse memory that other tests freed, and would seem to need none.
  private static func giveBackFreeMemory() {
    guard let trim = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> Int32).self)(0)
  }

  /// Calls that may share an exchange need a task of the client in addition to their own.
  @Test(arguments: [JoinRule.never, .safe])
  func `ten thousand calls share few sockets`(_ joining: JoinRule) async throws {
    // A small run first shows the memory that the process needs in any case.
    _ = await Self.send(500, joining, try Host(), Tally(), LeakCheck())
    let descriptors = ProcessUse.descriptors
    // Other tests of the process allocate memory at the same time, so a run that seems too large is repeated up to two
    // times.
    for attempt in 1...3 {
      let each = try await Self.rush(joining)
      print("\(Self.calls) calls at once, joining \(joining): \(each) bytes a waiting call")
      if isSanitized || each <= Self.most(joining) { break }
      #expect(attempt < 3, "\(each) bytes a waiting call")
    }
    #expect(await eventually { ProcessUse.descriptors <= descriptors + 8 }, "\(ProcessUse.descriptors - descriptors)")
  }

  /// One complete run, from the first call until the last socket is closed.
  private static func rush(_ joining: JoinRule) async throws -> Int {
    let tally = Tally()
    let leaks = LeakCheck()
    let host = try Host()
    let each = await send(calls, joining, host, tally, leaks)
    #expect(tally.eachOnce)
    #expect(tally.told == ["right": calls])
    #expect((1...sockets).contains(host.mostSockets))
    #expect(await leaks.survivors(turns: 200_000).isEmpty)
    try await host.server.wait { $0.openConnectionCount == 0 }
    host.server.stop()
    return each
  }
}
