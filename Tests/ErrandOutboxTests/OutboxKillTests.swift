import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandOutbox

/// Processes that are killed while they use an outbox. `Scripts/outbox-kills.py` does it a thousand times.
struct OutboxKillTests {
  /// A server that carries out each idempotency key once.
  private final class Ledger: Sendable {
    private let state = Locked((keys: Set<String>(), effects: [String](), fails: true))

    /// Records the effect of a new key. Each third effect is one of which the client does not hear.
    func carryOut(_ request: RecordedRequest) -> LoopbackAnswer {
      state.withLock { state in
        if state.keys.insert(request.headers["Idempotency-Key"] ?? "none").inserted {
          state.effects.append(request.path)
          if state.fails, state.effects.count % 3 == 0 { return .closeBeforeAnswer }
        }
        return .status(204)
      }
    }

    var effects: [String] { state.withLock { $0.effects } }
  }

  private final class Place: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "errand-kills-\(UUID().uuidString)")
    init() throws {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    deinit { try? FileManager.default.removeItem(at: url) }

    func run(_ mode: String, _ server: LoopbackServer, _ environment: [String: String] = [:]) async throws
      -> BuiltProgram.Run
    {
      try await BuiltProgram("OutboxCrasher").run(
        [mode, url.appending(path: "outbox").path, server.url, "one", "ada"], environment: environment)
    }

    /// The entries that the program has confirmed, and those that it had begun to add.
    func journal() throws -> (confirmed: [String], begun: [String]) {
      let lines = try String(contentsOf: url.appending(path: "one.journal"), encoding: .utf8).split(separator: "\n")
        .map { $0.split(separator: " ").map(String.init) }
      func paths(_ word: String) -> [String] {
        lines.filter { $0[0] == word }.map { "/book/\($0[1])/\($0[2])/\($0[3])" }
      }
      return (paths("added"), paths("adding"))
    }
  }

  @Test(arguments: OutboxPoint.allCases)
  func `kill at each named point loses and repeats nothing`(point: OutboxPoint) async throws {
    let ledger = Ledger()
    let server = try LoopbackServer { ledger.carryOut($0) }
    let place = try Place()
    for number in 1...2 {
      let run = try await place.run(
        "work", server, ["KILL_AT": point.rawValue, "KILL_NUMBER": "\(number)", "COUNT": "6"])
      #expect(run.status == SIGKILL, "\(run.text)")
    }
    let last = try await place.run("drain", server)
    #expect(last.text.contains("drained"), "\(last.text)")
    #expect(!last.text.contains("dead"))

    let (confirmed, begun) = try place.journal()
    let effects = ledger.effects
    #expect(Set(effects).count == effects.count)
    #expect(Set(effects).isSuperset(of: confirmed))
    #expect(Set(begun).isSuperset(of: effects))
    for lane in ["one-0", "one-1", "one-2"] {
      let order = effects.filter { $0.contains(lane) }
      #expect(order == begun.filter { $0.contains(lane) && effects.contains($0) })
    }
  }
}
