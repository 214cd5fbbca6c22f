import Errand
import ErrandCache
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport

@testable import ErrandOutbox

/// A folder, a server, a clock and a client for the tests of an outbox. The wall clocks of the outbox and of the cache
/// follow the manual clock.
final class OutboxFixture: Sendable {
  static let types: [any OutboxRequest.Type] = [
    Rename.self, Create.self, Delete.self, Note.self, Strict.self, Plain.self, Brief.self, Checked.self, Edit.self,
  ]

  let folder: URL
  let server: LoopbackServer
  let clock = ManualClock()
  let accounts = CredentialStore()
  let client: APIClient
  /// How far the wall clock was set, in milliseconds.
  let jump = Jump()

  /// A class, because the clocks of the outbox and of the cache share it.
  final class Jump: Sendable {
    private let milliseconds = Locked<Int64>(0)

    func withLock<Result: Sendable>(_ body: (inout Int64) -> Result) -> Result { milliseconds.withLock { body(&$0) } }
  }

  init(_ handler: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer = { _ in .status(204) }) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "errand-outbox-\(UUID().uuidString)")
    server = try LoopbackServer(handler: handler)
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.timers = clock
    configuration.credentials = accounts
    configuration.formats.arguments = .jsonByMethod
    configuration.cache.store = .own(ResponseCache(store: MemoryStore(), wallClock: OutboxFixture.wall(clock, jump)))
    client = APIClient(configuration)
  }

  deinit { for url in [folder, filesOfApp] { discardFolder(url) } }

  private static func wall(_ clock: ManualClock, _ jump: Jump) -> @Sendable () -> WallTime {
    { WallTime(milliseconds: 1_800_000_000_000 + clock.now.nanoseconds / 1_000_000 + jump.withLock { $0 }) }
  }

  /// Opens an outbox on the folder.
  func open(
    _ types: [any OutboxRequest.Type] = types, client: APIClient? = nil,
    _ change: (inout OutboxConfiguration) -> Void = { _ in }
  ) throws -> Outbox {
    var configuration = OutboxConfiguration()
    configuration.clock = Self.wall(clock, jump)
    change(&configuration)
    return try Outbox(folder: folder, client: client ?? self.client, requests: types, configuration: configuration)
  }

  /// A folder for files of the app, next to the folder of the outbox.
  private var filesOfApp: URL { folder.appendingPathExtension("app") }

  /// Writes a file of the app.
  func file(_ text: String, name: String = "photo.jpg") throws -> URL {
    try FileManager.default.createDirectory(at: filesOfApp, withIntermediateDirectories: true)
    let file = filesOfApp.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file
  }

  /// The bodies of the requests that the server received, in order.
  var bodies: [String] { server.requests.map(\.bodyText) }
  var paths: [String] { server.requests.map(\.path) }
  var keys: [String] { server.requests.map { $0.headers["Idempotency-Key"] ?? "none" } }

  func login(_ account: String) async throws {
    try await accounts.login(account, with: AccountCredential(.bearer("token of \(account)")))
  }
}

/// Waits, without sleeping, until `holds` returns true. Returns false after two minutes.
func until(_ holds: () async throws -> Bool) async throws -> Bool {
  let end = ContinuousClock.now + .seconds(120)
  while ContinuousClock.now < end {
    if try await holds() { return true }
    await Task.yield()
  }
  return try await holds()
}

extension OutboxFixture {
  /// Advances the clock until an entry is delivered. The clock stands still while the entry is sent, so that the call
  /// does not reach its deadline.
  func advance(_ outbox: Outbox, until id: OutboxEntry.ID, by step: Duration = .seconds(1)) async throws -> Bool {
    try await advance(outbox, to: id, .delivered, by: step)
  }

  /// Advances the clock until an entry has a state.
  func advance(
    _ outbox: Outbox, to id: OutboxEntry.ID, _ wanted: OutboxState, by step: Duration = .seconds(1)
  ) async throws -> Bool {
    try await until {
      let state = try await outbox.entry(id)?.state
      if state == .queued { clock.advance(by: step) }
      return state == wanted
    }
  }
}

extension Outbox {
  /// Waits until all events that have happened were handled: an event asks for a pass, and each step is a job of the
  /// queue.
  func handleEvents() async throws {
    for _ in 1...4 { try await runner.perform { _ in } }
  }

  /// Waits until an entry has had a number of failures and is queued.
  func waits(_ id: OutboxEntry.ID, failures: Int) async throws -> Bool {
    try await until {
      try await runner.perform { try $0.store.facts(of: id.rawValue) }.map {
        $0.state == .queued && $0.failures >= failures
      } ?? false
    }
  }

  /// Waits until an entry has a state.
  func reaches(_ id: OutboxEntry.ID, _ state: OutboxState) async throws -> Bool {
    try await until { try await entry(id)?.state == state }
  }
}

struct Rename: OutboxRequest {
  var note = "7"
  var title: String
  var path: Path { "/notes/\(note)" }
  var method: HTTPMethod { .patch }
  var arguments: Arguments { ["title": title] }
  var outbox: OutboxRule { .lane("note", note) }
  typealias Response = Nothing
}

struct Create: OutboxRequest {
  var title: String
  var path: Path { "/notes" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["title": title] }
  var outbox: OutboxRule { .lane("new", title) }
  func createdID(from response: Response) -> String? { response.id }
  struct Response: Decodable, Sendable { let id: String }
}

struct Delete: OutboxRequest {
  var note: OutboxReference
  var path: Path { "/notes/\(note)" }
  var method: HTTPMethod { .delete }
  var outbox: OutboxRule { .lane("note", note).cancelsOut(Create.self) }
  typealias Response = Nothing
}

/// An edit of a note whose creation may still be queued.
struct Edit: OutboxRequest {
  var note: OutboxReference
  var text: String
  var path: Path { "/notes/\(note)" }
  var method: HTTPMethod { .put }
  var arguments: Arguments { ["text": text] }
  var outbox: OutboxRule { .lane("note", note) }
  typealias Response = Nothing
}

/// Replaces earlier requests of its lane.
struct Note: OutboxRequest {
  var text: String
  var path: Path { "/text" }
  var method: HTTPMethod { .put }
  var arguments: Arguments { ["text": text] }
  var outbox: OutboxRule { .lane("text").supersedes() }
  typealias Response = Nothing
}

/// Stops its lane if it is rejected.
struct Strict: OutboxRequest {
  var step: Int
  var path: Path { "/steps/\(step)" }
  var method: HTTPMethod { .post }
  var outbox: OutboxRule { .lane("steps").stopsLaneOnFailure().attempts(3) }
  typealias Response = Nothing
}

/// A request without an idempotency key.
struct Plain: OutboxRequest {
  var number: Int
  var path: Path { "/plain/\(number)" }
  var method: HTTPMethod { .post }
  var idempotency: Idempotency { .never }
  typealias Response = Nothing
}

/// Expires after an hour.
struct Brief: OutboxRequest {
  var number: Int
  var path: Path { "/brief/\(number)" }
  var method: HTTPMethod { .post }
  var outbox: OutboxRule { .unordered.expires(after: .hours(1)) }
  typealias Response = Nothing
}

/// Rejects its own parameter.
struct Checked: OutboxRequest {
  struct Wrong: Error {}
  var password: String
  var path: Path { "/checked" }
  func check() throws { if password.isEmpty { throw Wrong() } }
  typealias Response = Nothing
}

/// Waits before the account of a call is fixed and before anything is sent.
struct Holding: Interceptor {
  let latch: Latch
  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try await latch.wait()
    return try await next(request)
  }
}
