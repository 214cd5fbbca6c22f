// Changes that are stored first and delivered later, also by another run of the program.
import Errand
import ErrandCache
import ErrandHTTP
import ErrandOutbox
import ErrandTesting
import Foundation
import Testing

struct Note: Codable, Sendable {
  let id: String
  let title: String
}

struct Rename: OutboxRequest {
  let noteID: String
  let title: String
  var path: Path { "/notes/\(noteID)" }
  var method: HTTPMethod { .patch }
  var arguments: Arguments { ["title": title] }
  var outbox: OutboxRule { .lane("note", noteID).supersedes().expires(after: .days(7)) }
  typealias Response = Nothing
}

struct CreateNote: OutboxRequest {
  let title: String
  var path: Path { "/notes" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["title": title] }
  typealias Response = Note
  func createdID(from note: Note) -> String? { note.id }
}

struct AddLine: OutboxRequest {
  let note: OutboxReference
  let line: String
  var path: Path { "/notes/\(note)/lines" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["line": line] }
  var outbox: OutboxRule { .lane("note", note) }
  typealias Response = Nothing
}

struct SaveNote: OutboxRequest {
  let noteID: String
  let text: String
  let version: String
  var path: Path { "/notes/\(noteID)" }
  var method: HTTPMethod { .put }
  var headers: RequestHeaders { ["If-Match": version] }
  var arguments: Arguments { ["text": text] }
  typealias Response = Nothing

  func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<SaveNote> {
    guard let version = conflict.error.response?.fields["ETag"] else { return .unresolved }
    return .keepMine(SaveNote(noteID: noteID, text: text, version: version))
  }
}

struct Pay: OutboxRequest {
  let order: String
  let cents: Int
  var path: Path { "/orders/\(order)/payments" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["cents": cents] }
  var outbox: OutboxRule { .lane("order", order).serverRemembersKeys(for: .hours(12)) }
  typealias Response = Nothing

  struct Payments: APIRequest {
    let order: String
    var path: Path { "/orders/\(order)/payments" }
    typealias Response = [Int]
  }

  func reconcile(in scope: OutboxScope) async throws -> OutboxFate {
    try await scope.send(Payments(order: order)).contains(cents) ? .carriedOut() : .notCarriedOut
  }
}

struct RenameInTwoLanguages: OutboxRequest {
  static let outboxType = "Rename"
  static let outboxVersion = 2
  let noteID: String
  let titles: [String: String]
  var path: Path { "/notes/\(noteID)/titles" }
  var method: HTTPMethod { .put }
  var arguments: Arguments { ["titles": titles] }
  typealias Response = Nothing

  static func migrate(_ old: StoredRequest) throws -> RenameInTwoLanguages {
    let rename = try old.decode(Rename.self)
    return RenameInTwoLanguages(noteID: rename.noteID, titles: ["en": rename.title])
  }
}

struct GetNote: APIRequest {
  let noteID: String
  var path: Path { "/notes/\(noteID)" }
  struct Response: Codable, Sendable { var title: String }
}

extension Rename: OptimisticRequest {
  func patches(of object: OutboxReference) -> [OutboxPatch] {
    [
      .changing(GetNote.self) { note, request in
        if request.noteID == noteID { note.title = title }
      }
    ]
  }
}

struct SendPhoto: OutboxRequest {
  let photo: OutboxFile
  var path: Path { "/photos" }
  var method: HTTPMethod { .post }
  var body: RequestBody? { .file(photo.url) }
  typealias Response = Nothing
}

@Test func `a change waits until the server is back`() async throws {
  let clock = ManualClock()
  let start = WallTime.now
  var settings = ClientConfiguration(baseURL: "https://api.example.com")
  settings.transport = .own(ScriptedTransport(.status(503), .status(204)))
  settings.timers = clock
  var configuration = OutboxConfiguration()
  configuration.clock = { start.advanced(byMilliseconds: clock.now.nanoseconds / 1_000_000) }
  let folder = URL.temporaryDirectory.appending(path: "outbox-test-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: folder) }
  let outbox = try Outbox(
    folder: folder, client: APIClient(settings), requests: [Rename.self], configuration: configuration)

  let receipt = try await outbox.add(Rename(noteID: "7", title: "x"))
  while !receipt.state.isFinal {
    // Not while the entry is sent, so that the call does not reach its deadline.
    if receipt.state == .queued { clock.advance(by: .milliseconds(100)) }
    await Task.yield()
  }
  #expect(receipt.state == .delivered)
  await outbox.close()
}

let server = try LoopbackServer { request in
  switch request.method {
  case "GET": .json(#"{"title": "old"}"#)
  case "POST" where request.path == "/notes": .json(#"{"id": "8", "title": "y"}"#)
  default: .status(204)
  }
}
let client = APIClient(baseURL: server.url)
let folder = FileManager.default.temporaryDirectory.appending(path: "outbox-sample-\(UUID().uuidString)")
func show(_ text: String) { print(text) }

let outbox = try Outbox(
  folder: folder, client: client, requests: [Rename.self, CreateNote.self, AddLine.self, SendPhoto.self])
let receipt = try await outbox.add(Rename(noteID: "7", title: "x"))  // stored durably when this returns
let outcome = await receipt.outcome
show("\(outcome.state)")

let created = try await outbox.add(CreateNote(title: "y"))
let line = try await outbox.add(AddLine(note: created.reference, line: "first"))  // waits for the identifier
for await state in line.states { show("\(state)") }

outbox.pause()
_ = try await outbox.add(Rename(noteID: "7", title: "new"))
for try await note in outbox.values(of: GetNote(noteID: "7")) {
  show(note.title)
  if note.title == "new" { break }
}
outbox.resume()

do {
  show(try await outbox.value(of: GetNote(noteID: "7"), options: CallOptions(cache: .ignoringCache)).title)
} catch let error as APIError where error.stage == .transport {
  show("No connection: what you see may be out of date.")
}

let waiting = try await outbox.entries()
if waiting.contains(where: { $0.reason?.code == .offline }) { show("\(waiting.count) changes wait for a connection.") }

let url = folder.appendingPathExtension("jpg")
try Data("a photo".utf8).write(to: url)
let sent = try await outbox.add(SendPhoto(photo: OutboxFile(url)))
try FileManager.default.removeItem(at: url)
show("\(await sent.outcome.state)")

let note = try await client.response(GetNote(noteID: "7"), options: CallOptions(cache: .ignoringCache))
show(note.value.title)
outbox.wake()  // the server can be reached: do not wait any longer

for entry in try await outbox.deadLetters() {
  show("\(entry.type): \(entry.reason?.message ?? "")")
  try await outbox.resend(entry.id)  // or edit, or discard
}

let summary = try await outbox.summary
show("\(summary.waiting) changes wait, \(summary.deadLetters) need a decision")

let left = try await outbox.prepareLogout(of: "ada", .sendFirst(within: .seconds(10)))
show("\(left) changes of ada are kept")

await outbox.close()
try FileManager.default.removeItem(at: folder)

// `swift test` discovers tests; here it is called.
try await `a change waits until the server is back`()
