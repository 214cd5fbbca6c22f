import Errand
import ErrandOutbox
import ErrandTesting
import Foundation

struct OutboxScene: DemoScene {
  let title = "Outbox: a change whose response was lost arrives once, also after a restart"
  let source = SceneSource()

  // shown: begin
  struct Rename: OutboxRequest {
    let note: Int, title: String
    var path: Path { "/notes/\(note)" }
    var method: HTTPMethod { .patch }
    var arguments: Arguments { ["title": title] }
    var outbox: OutboxRule { .lane("note", note).expires(after: .days(7)) }
    typealias Response = Nothing
  }
  // shown: end

  private let runs = TurnCounter()

  /// The server carries out the request, but in the first run the connection breaks before the response.
  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    runs.value == 0 ? .closeBeforeAnswer : .status(204)
  }

  /// The requests of this scene. A request of the scene before may arrive late.
  @MainActor private func renames(on stage: Stage) -> [RecordedRequest] {
    stage.requests().filter { $0.path == "/notes/7" }
  }

  @MainActor func play(on stage: Stage) async throws {
    runs.reset()
    let client = stage.client
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-demo-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    // shown: begin
    let first = try Outbox(folder: folder, client: client, requests: [Rename.self])
    let id = try await first.add(Rename(note: 7, title: "x")).id  // stored durably
    // shown: end
    while renames(on: stage).isEmpty { await Task.yield() }
    await first.close()
    let stored = try OutboxFiles(folder).entry(id).entry
    _ = runs.next()
    // shown: begin
    // After a restart:
    let second = try Outbox(folder: folder, client: client, requests: [Rename.self])
    let outcome = try await second.receipt(for: id, of: Rename.self).outcome
    // shown: end
    await second.close()

    let requests = renames(on: stage)
    let keys = requests.compactMap { $0.headers["Idempotency-Key"] }
    for request in requests { stage.showSent(request, fields: ["Idempotency-Key"]) }
    stage.showReceived("after the first run: \(stored.state.rawValue), the server may have carried it out")
    stage.showReceived("after the second run: \(outcome.state.rawValue)")
    stage.expect("the change was kept until it was delivered", stored.mayHaveBeenSent && outcome.isDelivered)
    stage.expect(
      "all attempts had the same key, so that the server changed the title once",
      keys.count == requests.count && keys.count > 1 && Set(keys).count == 1)
  }
}
