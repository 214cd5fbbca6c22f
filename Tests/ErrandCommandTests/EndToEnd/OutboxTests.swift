import Errand
import ErrandCache
import ErrandOutbox
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

struct OutboxTests {
  private struct Rename: OutboxRequest {
    let title: String
    var path: Path { "/notes/7" }
    var method: HTTPMethod { .patch }
    var outbox: OutboxRule { .lane("note", 7) }
    typealias Response = Nothing
  }

  private final class Place: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "errand-outbox-\(UUID().uuidString)")
    deinit { try? FileManager.default.removeItem(at: url) }
    var path: String { url.path(percentEncoded: false) }
  }

  /// A folder with a rejected entry and a queued one, which the client cannot send.
  private func place() async throws -> Place {
    let place = Place()
    let server = try LoopbackServer { _ in .status(403) }
    let outbox = try Outbox(folder: place.url, client: APIClient(baseURL: server.url), requests: [Rename.self])
    #expect(try await outbox.add(Rename(title: "first")).outcome.state == .rejected)
    outbox.pause()
    _ = try await outbox.add(Rename(title: "second"))
    await outbox.close()
    return place
  }

  private func run(_ words: String...) async throws -> BuiltCommand.Run {
    try await BuiltCommand.run(["outbox"] + words)
  }

  @Test func `entries are listed with their reasons`() async throws {
    let place = try await place()
    let run = try await run("list", place.path)
    #expect(run.status == 0 && run.error == "")
    let rows = run.text.split(separator: "\n")
    try #require(rows.count == 3)
    #expect(rows[0].contains(/^id +state +age +tries +lane +request +account +reason$/))
    #expect(rows[1].contains(/^1 +rejected +\d+s +1 +note\/7 +Rename +none +status 403$/), "\(rows[1])")
    #expect(rows[2].contains(/^2 +queued +\d+s +0 +note\/7 +Rename +none *$/), "\(rows[2])")
  }

  @Test func `entry is shown with its request`() async throws {
    let place = try await place()
    let run = try await run("show", place.path, "1")
    #expect(run.status == 0)
    #expect(run.text == "{\n  \"title\": \"first\"\n}\n")
    #expect(run.error.contains("rejected"))
    #expect(try await self.run("show", place.path, "9").status == ExitCode.notStored.rawValue)
  }

  @Test func `shown request is the same JSON`() async throws {
    let place = Place()
    let outbox = try Outbox(
      folder: place.url, client: APIClient(baseURL: "http://127.0.0.1:9"), requests: [Rename.self])
    outbox.pause()
    let title = "a\u{200B}\u{202E}\u{9B}b\u{7F}\n"
    _ = try await outbox.add(Rename(title: title))
    await outbox.close()
    let run = try await run("show", place.path, "1")
    #expect(run.text.unicodeScalars.allSatisfy { $0.isASCII && $0 != "\u{7F}" })
    let shown = try #require(try JSONValue(parsing: run.output)["title"]?.stringValue)
    #expect(Array(shown.utf8) == Array(title.utf8))
  }

  @Test func `entries are resent and discarded`() async throws {
    let place = try await place()
    #expect(try await run("resend", place.path, "1").text == "1 entry will be sent again\n")
    #expect(try await run("resend", place.path, "1").status == ExitCode.other.rawValue)
    #expect(try await run("discard", place.path, "1", "2").text == "2 entries discarded\n")
    #expect(try await run("list", place.path).text.contains("no such entries"))
    #expect(try await run("list", place.path, "--all").text.contains("cancelled"))
  }

  @Test func `refused entry ends the others`() async throws {
    let place = try await place()
    let run = try await run("discard", place.path, "1", "9", "2")
    #expect(run.status == ExitCode.notStored.rawValue && run.text == "")
    #expect(
      run.error.hasSuffix(". 1 entry discarded; entry 9 and the entries named after it are unchanged.\n"),
      "\(run.error)")
    let list = try await self.run("list", place.path).text
    #expect(!list.contains("rejected") && list.contains("queued"))
    let last = try await self.run("resend", place.path, "9", "9")
    #expect(last.error.contains(" 0 entries will be sent again; entry 9 and "), "\(last.error)")
  }

  @Test func `damaged entry is listed and discarded`() async throws {
    let place = Place()
    let outbox = try Outbox(
      folder: place.url, client: APIClient(baseURL: "http://127.0.0.1:9"), requests: [Rename.self])
    outbox.pause()
    _ = try await outbox.add(Rename(title: String(repeating: "z", count: 50_000)))
    await outbox.close()
    let database = try SQLiteDatabase(path: place.url.appending(path: "errand-outbox.sqlite").path) { false }
    #expect(try database.number("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
    var damage = DatabaseDamage(place.url.appending(path: "errand-outbox.sqlite"))
    try damage.breakOverflow(of: 0x7a)
    #expect(damage.count > 5)
    let list = try await run("list", place.path)
    #expect(list.text.contains(/\n1 +parked +\d+s +0 +note\/7 +Rename +none +damaged\n/), "\(list.text)")
    let show = try await run("show", place.path, "1")
    #expect(show.status == ExitCode.data.rawValue && show.text == "")
    #expect(show.error.contains("Entry 1 is damaged") && show.error.contains("it cannot be read"))
    let resend = try await run("resend", place.path, "1")
    #expect(resend.error.contains("Entry 1 is damaged"), "\(resend.error)")
    #expect(try await run("discard", place.path, "1").text == "1 entry discarded\n")
    #expect(try await run("list", place.path).text.contains("no such entries"))
  }

  @Test func `folder without an outbox is not changed`() async throws {
    let place = Place()
    #expect(try await run("list", place.path).status == ExitCode.noStore.rawValue)
    #expect(!FileManager.default.fileExists(atPath: place.path))
    #expect(try await run("frob").status == ExitCode.usage.rawValue)
  }
}
