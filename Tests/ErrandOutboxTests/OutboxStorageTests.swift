import Errand
import ErrandCache
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// What is stored, by whom it can be read, and what happens to files that cannot be used.
struct OutboxStorageTests {
  private static func names(_ folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
  }

  private static func holds(_ folder: URL, _ text: String) throws -> Bool {
    try names(folder).contains { try Data(contentsOf: $0).range(of: Data(text.utf8)) != nil }
  }

  /// Stores a request that is not sent, and closes the outbox.
  private static func store<Request: OutboxRequest>(
    _ request: Request, in fixture: OutboxFixture, _ change: (inout OutboxConfiguration) -> Void = { _ in }
  ) async throws -> OutboxEntry.ID {
    let outbox = try fixture.open([Request.self], change)
    outbox.pause()
    let id = try await outbox.add(request).id
    await outbox.close()
    return id
  }

  // MARK: - Secrets

  @Test func `no credential is stored`() async throws {
    let fixture = try OutboxFixture()
    try await fixture.login("ada")
    fixture.client.configure { $0.headers["X-Api-Key"] = .secret("the api key") }
    let outbox = try fixture.open()
    #expect(try await outbox.add(Rename(title: "visible")).outcome.isDelivered)
    outbox.pause()
    _ = try await outbox.add(Rename(title: "visible"))
    #expect(fixture.server.requests.first?.headers["Authorization"] == "Bearer token of ada")
    #expect(try !Self.holds(fixture.folder, "token of ada"))
    #expect(try !Self.holds(fixture.folder, "the api key"))
    #expect(try Self.holds(fixture.folder, "visible"))
    await outbox.close()
  }

  @Test(
    arguments: [
      (#"{"a":{"access_token":1}}"#, "access_token"), (#"[{"API-Key":""}]"#, "API-Key"),
      (#"{"myPassWord":1}"#, "myPassWord"),
      (#"{"text":"\"password\":1"}"#, nil), (#"{"note":"password"}"#, nil), (#"{"a\\":1,"pin":2}"#, nil),
      (#"{"password"#, nil), (#"{"password\"#, nil), ("", nil),
    ] as [(String, String?)])
  func `names of secrets are found in JSON`(json: String, name: String?) {
    #expect(SecretNames.first(in: Data(json.utf8)) == name)
  }

  @Test func `all of many additions at once are kept`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let ids = try await withThrowingTaskGroup(of: OutboxEntry.ID.self) { group in
      for number in 0..<500 { group.addTask { try await outbox.add(Rename(note: "\(number)", title: "x")).id } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    await outbox.close()
    let second = try fixture.open()
    #expect(ids.count == 500)
    #expect(try await second.reaches(OutboxEntry.ID(rawValue: 500), .delivered))
    #expect(try await until { try await second.summary.waiting == 0 })
    #expect(Set(fixture.paths).count == 500)
    await second.close()
  }

  @Test func `property that looks like a secret needs a seal`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    let error = await #expect(throws: OutboxError.self) { try await outbox.add(Checked(password: "hunter2")) }
    #expect(error?.code == .secret)
    #expect(error?.message.contains("`password`") == true)
    await outbox.close()
    let sealed = try fixture.open { $0.seal = Reversing() }
    #expect(try await sealed.add(Checked(password: "hunter2")).outcome.isDelivered)
    await sealed.close()
  }

  @Test func `sealed request is stored unreadably and sent`() async throws {
    let fixture = try OutboxFixture()
    let id = try await Self.store(Rename(title: "hidden text"), in: fixture) { $0.seal = Reversing() }
    #expect(try !Self.holds(fixture.folder, "hidden text"))

    let without = try fixture.open()
    #expect(try await until { try await without.entry(id)?.reason?.code == .unreadable })
    #expect(try await without.entry(id)?.state == .queued)
    await without.close()

    let second = try fixture.open { $0.seal = Reversing() }
    #expect(try await second.reaches(id, .delivered))
    #expect(fixture.bodies == [#"{"title":"hidden text"}"#])
    await second.close()
  }

  private struct Reversing: OutboxSeal {
    func seal(_ bytes: Data) throws -> Data { Data(bytes.reversed()) }
    func open(_ sealed: Data) throws -> Data { Data(sealed.reversed()) }
  }

  @Test func `delivered request is removed from the table`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    let id = try await outbox.add(Rename(title: "x")).id
    #expect(try await outbox.reaches(id, .delivered))
    let length = try await outbox.runner.perform { try $0.store.stored(id.rawValue)?.request.count }
    #expect(length == 0)
    await outbox.close()
  }

  // MARK: - Types

  @Test func `unknown type is kept and sent by a later version`() async throws {
    let fixture = try OutboxFixture()
    let id = try await Self.store(Rename(title: "x"), in: fixture)

    let other = try fixture.open([Strict.self])
    #expect(try await until { try await other.entry(id)?.reason?.code == .unknownType })
    #expect(try await other.entry(id)?.state == .queued)
    await other.close()
    #expect(fixture.server.requests.isEmpty)

    let later = try fixture.open()
    #expect(try await later.reaches(id, .delivered))
    await later.close()
  }

  @Test func `edited entry of an unknown type is sent`() async throws {
    let fixture = try OutboxFixture()
    let id = try await Self.store(Rename(title: "x"), in: fixture)
    let other = try fixture.open([Strict.self])
    #expect(try await until { try await other.entry(id)?.reason?.code == .unknownType })
    // An outbox without the right to send does not queue held entries again when it opens.
    let later = try fixture.open()
    try await later.edit(id, to: Rename(title: "y"))
    #expect(try await later.entry(id)?.reason == nil)
    await other.close()
    #expect(try await fixture.advance(later, until: id))
    #expect(fixture.bodies == [#"{"title":"y"}"#])
    await later.close()
  }

  /// The stored form of an earlier version of ``Renamed``.
  struct Old: OutboxRequest {
    static let outboxType = "Renamed"
    var name: String
    var path: Path { "/old" }
    typealias Response = Nothing
  }

  struct Renamed: OutboxRequest {
    static let outboxVersion = 2
    var title: String
    var path: Path { "/renamed/\(title)" }
    var method: HTTPMethod { .put }
    typealias Response = Nothing

    static func migrate(_ old: StoredRequest) throws -> Renamed {
      Renamed(title: try old.decode(Old.self).name)
    }
  }

  @Test func `old form is migrated`() async throws {
    let fixture = try OutboxFixture()
    let id = try await Self.store(Old(name: "x"), in: fixture)
    let second = try fixture.open([Renamed.self])
    #expect(try await second.reaches(id, .delivered))
    #expect(fixture.paths == ["/renamed/x"])
    await second.close()
  }

  @Test func `later form waits for a later version`() async throws {
    let fixture = try OutboxFixture()
    let id = try await Self.store(Renamed(title: "x"), in: fixture)
    let second = try fixture.open([Old.self])
    #expect(try await until { try await second.entry(id)?.reason?.code == .unknownType })
    #expect(try await second.entry(id)?.state == .queued)
    await second.close()
  }

  @Test func `form that cannot be migrated is parked`() async throws {
    struct Newer: OutboxRequest {
      static let outboxType = "Renamed"
      static let outboxVersion = 2
      var path: Path { "/newer" }
      typealias Response = Nothing
    }
    let fixture = try OutboxFixture()
    let id = try await Self.store(Old(name: "x"), in: fixture)
    let second = try fixture.open([Newer.self])
    #expect(try await second.reaches(id, .parked))
    #expect(try await second.entry(id)?.reason?.code == .unreadable)
    await second.close()
  }

  @Test func `mistakes of the caller are errors`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open([Checked.self])
    #expect(await #expect(throws: OutboxError.self) { try await outbox.add(Rename(title: "x")) }?.code == .unregistered)
    #expect(await #expect(throws: OutboxError.self) { try await outbox.add(Checked(password: "")) }?.code == .parameter)
    await outbox.close()
  }

  /// Has the same name as the other ``Rename``.
  enum Folder {
    struct Rename: OutboxRequest {
      var path: Path { "/folder" }
      typealias Response = Nothing
    }
  }

  @Test func `types need different names`() async throws {
    let fixture = try OutboxFixture()
    let error = #expect(throws: OutboxError.self) { try fixture.open([Rename.self, Folder.Rename.self]) }
    #expect(error?.code == .unregistered)
    for words in ["ErrandOutboxTests.Rename and ", ".Folder.Rename have ", "“Rename”"] {
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "none")")
    }
    let outbox = try fixture.open([Rename.self, Rename.self])
    await outbox.close()
  }

  // MARK: - Files

  @Test func `commits are durable by their settings`() throws {
    let fixture = try OutboxFixture()
    let store = try OutboxStore(OutboxFolder(fixture.folder))
    #expect(try store.database.text("PRAGMA journal_mode") == "wal")
    #expect(try store.database.number("PRAGMA synchronous") == 2)
  }

  @Test(arguments: [("entry_due", true), ("entry_probe", false)])
  func `search for due entries reads an index in order`(index: String, mayHaveFailed: Bool) throws {
    let fixture = try OutboxFixture()
    let store = try OutboxStore(OutboxFolder(fixture.folder))
    let plan = try store.rows(
      "EXPLAIN QUERY PLAN \(OutboxStore.headQuery(mayHaveFailed: mayHaveFailed))", .text(""), .number(9)
    ) { $0.text(3) ?? "" }
    #expect(plan == ["SEARCH entry USING INDEX \(index) (account=?)"])
  }

  @Test func `files are private`() throws {
    let fixture = try OutboxFixture()
    let store = try OutboxStore(OutboxFolder(fixture.folder))
    for file in try Self.names(fixture.folder) {
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(file)")
    }
    withExtendedLifetime(store) {}
  }

  @Test func `torn end of the log loses only the torn commit`() async throws {
    let fixture = try OutboxFixture()
    let copy = FileManager.default.temporaryDirectory.appending(path: "errand-outbox-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: copy) }
    let outbox = try fixture.open()
    outbox.pause()
    let first = try await outbox.add(Rename(title: "first")).id
    _ = try await outbox.add(Rename(title: "second"))
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    for name in ["errand-outbox.sqlite", "errand-outbox.sqlite-wal"] {
      try FileManager.default.copyItem(at: fixture.folder.appending(path: name), to: copy.appending(path: name))
    }
    await outbox.close()
    let log = try FileHandle(forUpdating: copy.appending(path: "errand-outbox.sqlite-wal"))
    try log.truncate(atOffset: try log.seekToEnd() - 100)
    try log.close()
    let store = try OutboxStore(OutboxFolder(copy))
    #expect(try store.entries(in: [.queued], after: 0, limit: 9).map(\.id) == [first])
  }

  @Test func `damaged row is parked and the others are sent`() async throws {
    let fixture = try OutboxFixture()
    let first = try fixture.open()
    first.pause()
    let bad = try await first.add(Rename(title: "bad")).id
    let good = try await first.add(Rename(title: "good")).id
    try await first.runner.perform { runner in
      try runner.store.run("UPDATE entry SET request=x'00' WHERE id=?", .number(bad.rawValue))
    }
    first.resume()
    #expect(try await first.reaches(bad, .parked))
    let reason = try await first.entry(bad)?.reason
    #expect(reason?.code == .damaged)
    #expect(reason?.message.hasPrefix("Entry 1 is damaged: its checksum is wrong") == true)
    #expect(reason?.message.contains("Keep a copy of the folder of the outbox, then discard the entry.") == true)
    #expect(try await first.reaches(good, .delivered))
    await first.close()
  }

  @Test func `damaged entry is neither resent nor edited`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let id = try await outbox.add(Rename(title: "x")).id
    try await outbox.runner.perform { runner in
      try runner.store.run("UPDATE entry SET request=CAST('{\"note\":\"7\",\"title\":\"changed\"}' AS BLOB) WHERE id=1")
    }
    outbox.resume()
    #expect(try await outbox.reaches(id, .parked))
    #expect(await #expect(throws: OutboxError.self) { try await outbox.resend(id) }?.code == .unreadable)
    let edit = await #expect(throws: OutboxError.self) { try await outbox.edit(id, to: Rename(title: "y")) }
    #expect(edit?.code == .unreadable)
    try await outbox.discard(id)
    #expect(fixture.server.requests.isEmpty)
    await outbox.close()
  }

  @Test func `damaged database is reported and kept`() throws {
    let fixture = try OutboxFixture()
    try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
    let file = fixture.folder.appending(path: "errand-outbox.sqlite")
    let garbage = Data(repeating: 0x41, count: 8_192)
    try garbage.write(to: file)
    #expect(#expect(throws: OutboxError.self) { try fixture.open() }?.code == .damaged)
    #expect(try Data(contentsOf: file) == garbage)
  }

  @Test func `later version of the format is reported and kept`() throws {
    let fixture = try OutboxFixture()
    do {
      let store = try OutboxStore(OutboxFolder(fixture.folder))
      try store.database.run("PRAGMA user_version=99")
    }
    #expect(#expect(throws: OutboxError.self) { try fixture.open() }?.code == .version)
  }

  @Test func `folder that others may write to is rejected`() throws {
    let fixture = try OutboxFixture()
    let open = fixture.folder.appending(path: "open")
    try FileManager.default.createDirectory(at: open, withIntermediateDirectories: true)
    chmod(open.path, 0o777)
    let error = #expect(throws: OutboxError.self) {
      try Outbox(folder: open.appending(path: "outbox"), client: fixture.client, requests: [])
    }
    #expect(error?.code == .folder)
  }

  @Test func `full disk rejects the request and keeps the others`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    _ = try await outbox.add(Rename(title: "x"))
    try await outbox.runner.perform { runner in
      let pages = try runner.store.database.number("PRAGMA page_count")
      _ = try runner.store.database.number("PRAGMA max_page_count=\(pages)")
    }
    let error = await #expect(throws: OutboxError.self) {
      _ = try await outbox.add(Rename(title: String(repeating: "y", count: 100_000)))
    }
    #expect(error?.code == .disk)
    #expect(try await outbox.summary.waiting == 1)
    outbox.resume()
    #expect(try await until { try await outbox.summary.waiting == 0 })
    await outbox.close()
  }

  @Test func `old entries are removed`() async throws {
    let fixture = try OutboxFixture()
    let first = try fixture.open()
    let id = try await first.add(Rename(title: "x")).id
    #expect(try await first.reaches(id, .delivered))
    await first.close()
    fixture.clock.advance(by: .seconds(2 * 86_400))
    let second = try fixture.open()
    #expect(try await until { try await second.entry(id) == nil })
    await second.close()
  }
}
