import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

struct CacheTests {
  private let place = FileManager.default.temporaryDirectory.appending(path: "errand-kept-\(UUID().uuidString)")
  private let cleaner: Cleaner
  private var folder: String { place.appending(path: "store").path(percentEncoded: false) }

  /// Removes the folder after the test.
  private final class Cleaner: Sendable {
    let place: URL
    init(_ place: URL) { self.place = place }
    deinit { try? FileManager.default.removeItem(at: place) }
  }

  init() throws {
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    cleaner = Cleaner(place)
  }

  private func cache(_ words: String...) async throws -> BuiltCommand.Run {
    try await BuiltCommand.run(["cache"] + words)
  }

  private func keep(_ words: String...) async throws {
    let run = try await BuiltCommand.run(["send", "--cache", folder] + words)
    try #require(run.status == 0, "\(run.error)")
  }

  /// A server whose responses are fresh for ten minutes and describe their request.
  private func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      .ok("\(request.method) \(request.target) \(request.bodyText)").setting("Cache-Control", to: "max-age=600")
        .setting("Set-Cookie", to: "sid=s3cret")
    }
  }

  private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

  // MARK: - List and statistics

  @Test func `responses are listed by last use`() async throws {
    let server = try server()
    try await keep(server.url + "/a?token=t1", "--tag", "feed")
    try await keep(server.url + "/b", "--lifetime", "59s")
    let run = try await cache("list", folder)
    #expect(run.status == 0 && run.error == "")
    let rows = lines(run.text)
    try #require(rows.count == 3)
    #expect(rows[0].contains(/^age +state +size +status +method +url +tag$/))
    #expect(rows[1].contains(/^\d+s +fresh for \d+s +7 bytes +200 +GET +http:\S+\/b *$/), "\(rows[1])")
    #expect(rows[2].contains(/^\d+s +fresh for (10m|9m \d+s) +16 bytes +200 +GET +http:\S+\/a\?token=\S+ +feed$/))
    #expect(!run.text.contains("t1"))
  }

  @Test func `statistics are printed`() async throws {
    let server = try server()
    try await keep(server.url + "/a")
    try await keep(server.url + "/b", "-H", "Cache-Control: no-transform")
    let run = try await cache("stats", folder)
    #expect(run.status == 0)
    let rows = lines(run.text)
    #expect(rows.first == "entries  2: 2 fresh, 0 not" && rows.last == "hosts    127.0.0.1: 2 entries")
    #expect(rows.contains("bodies   14 bytes") && rows.contains { $0.hasPrefix("limit    100.0 MiB") })
    #expect(rows.contains { $0.contains(/^on disk  \d+\.\d KiB, with the index$/) })
  }

  // MARK: - Show

  @Test func `headers and body are printed`() async throws {
    let server = try server()
    try await keep(server.url + "/a")
    let run = try await cache("show", folder, server.url + "/a")
    #expect(run.status == 0 && run.text.hasPrefix("HTTP/1.1 200 OK\n") && run.text.hasSuffix("\n\nGET /a "))
    #expect(run.text.contains("Cache-Control: max-age=600\n") && !run.text.contains("s3cret"))
    #expect(run.error.contains(/^\* GET http:\S+ · stored \d+s ago · fresh for \S+( \S+)? · 7 bytes\n$/))
    #expect(server.requests.count == 1)
  }

  @Test func `show matches arguments, bodies and methods`() async throws {
    let server = try server()
    try await keep(server.url + "/a", "q=x y")
    try await keep("POST", server.url + "/a", "q=1", "--lifetime", "1h")
    try await keep("POST", server.url + "/a", "q=2", "--lifetime", "1h")
    #expect(try await cache("show", folder, server.url + "/a", "q=x y").text.hasSuffix("GET /a?q=x%20y "))
    #expect(try await cache("show", folder, "POST", server.url + "/a", "q=2").text.hasSuffix("POST /a q=2"))
    let all = try await cache("show", folder, server.url + "/a")
    #expect(all.text.contains("POST /a q=1") && all.text.contains("POST /a q=2") && !all.text.contains("GET"))
    #expect(try await cache("show", folder, "PUT", server.url + "/a").status == 66)
    #expect(try await cache("show", folder, "GET", server.url + "/a").status == 66)
  }

  @Test func `accounts are separate`() async throws {
    let server = try server()
    try await keep(server.url + "/a", "--bearer", "t")
    let other = try await cache("show", folder, server.url + "/a")
    #expect(other.status == 66 && other.output.isEmpty)
    #expect(other.error.contains("another account has a stored response; give the credential"))
    #expect(try await cache("show", folder, server.url + "/a", "--bearer", "t").text.hasSuffix("GET /a "))
  }

  @Test func `a missing entry has its exit status`() async throws {
    let server = try server()
    try await keep(server.url + "/a")
    let run = try await cache("show", folder, server.url + "/b?token=t1")
    #expect(run.status == 66 && run.output.isEmpty && server.requests.count == 1)
    #expect(
      run.error == "errand: Nothing is stored for GET \(server.url)/b?token=•••; "
        + "“errand cache list” shows what is stored.\n")
    #expect(try await cache("show", folder, "http://h h/").status == 64)
  }

  @Test func `a store in use is not called empty`() async throws {
    let server = try server()
    try await keep(server.url + "/a")
    let lock = open(folder + "/errand-cache.lock", O_RDWR)
    defer { close(lock) }
    try #require(flock(lock, LOCK_EX) == 0)
    for words in [["list"], ["stats"], ["clear"]] {
      let run = try await BuiltCommand.run(["cache"] + words + [folder])
      #expect(run.status == 75 && run.output.isEmpty, "\(words): \(run.status) \(run.text)")
      #expect(run.error.contains("cannot be read now. Another process may be using the store; try again later."))
    }
    let shown = try await cache("show", folder, server.url + "/a")
    #expect(shown.status == 75 && shown.output.isEmpty)
    flock(lock, LOCK_UN)
    #expect(try await cache("list", folder).text.contains("/a"))
  }

  // MARK: - Clear

  @Test func `all entries can be cleared`() async throws {
    let server = try server()
    for path in ["/a", "/b"] { try await keep(server.url + path) }
    let run = try await cache("clear", folder)
    #expect(run.status == 0 && run.text == "2 entries removed, 0 left\n")
    #expect(try await cache("list", folder).text == "“\(folder)” is empty.\n")
    #expect(try await cache("clear", folder).text == "0 entries removed, 0 left\n")
  }

  @Test func `some entries can be cleared`() async throws {
    let server = try server()
    try await keep(server.url + "/a", "--tag", "feed")
    try await keep(server.url + "/b")
    try await keep(server.url.replacing("127.0.0.1", with: "localhost") + "/c")
    #expect(try await cache("clear", folder, "--tag", "other").text == "0 entries removed, 3 left\n")
    #expect(try await cache("clear", folder, "--tag", "feed").text == "1 entry removed, 2 left\n")
    #expect(try await cache("clear", folder, "--host", "LOCALHOST").text == "1 entry removed, 1 left\n")
    #expect(try await cache("clear", folder, "--older-than", "1h").text == "0 entries removed, 1 left\n")
    #expect(try await cache("clear", folder, "--older-than", "0.001").text == "1 entry removed, 0 left\n")
  }

  // MARK: - Unusable folders

  private static let damaged = "contains a damaged store; the next “errand send --cache” replaces it."
  private static let verbs = [["list"], ["stats"], ["clear"], ["show"]]

  /// Runs a task on a folder, expects it to fail, and returns the message.
  private func refused(_ verb: [String], _ folder: String, _ code: ExitCode = .noStore) async throws -> String {
    let run = try await BuiltCommand.run(["cache"] + verb + [folder] + (verb == ["show"] ? ["h.example"] : []))
    #expect(run.status == code.rawValue && run.output.isEmpty)
    return run.error
  }

  @Test(arguments: verbs) func `inspecting creates nothing`(verb: [String]) async throws {
    #expect(
      try await refused(verb, folder)
        == "errand: “\(folder)” does not exist; “errand send --cache DIR URL” creates a store.\n")
    #expect(!FileManager.default.fileExists(atPath: folder))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    #expect(
      try await refused(verb, folder)
        == "errand: “\(folder)” contains no store, because nothing was stored there; “errand send --cache DIR URL” "
        + "stores responses.\n")
    try Data("mine".utf8).write(to: URL(filePath: folder + "/letter"))
    #expect(
      try await refused(verb, folder)
        == "errand: “\(folder)” contains other files, but no store; use the folder of a store.\n")
    #expect(
      try await refused(verb, folder + "/letter")
        == "errand: “\(folder)/letter” is not a folder; name a folder, or a path that does not exist yet.\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["letter"])
  }

  @Test(
    arguments: [
      (68, [UInt8](repeating: 1, count: 4), "contains the index of another program; use another folder."),
      (60, [0, 0, 0, 99], "contains a store of another version of Errand; use another folder."),
      (0, [UInt8](repeating: 0x41, count: 4_096), damaged), (4_096, [UInt8](repeating: 0x41, count: 65_536), damaged),
    ] as [(UInt64, [UInt8], String)])
  func `a foreign or damaged store is unchanged`(offset: UInt64, bytes: [UInt8], clause: String) async throws {
    let server = try server()
    try await keep(server.url)
    let index = URL(filePath: folder + "/errand-cache.sqlite")
    // The last user of the store writes the rest of the log into the index when it closes the store.
    #expect(try await cache("clear", folder, "--tag", "none").status == 0)
    let file = try FileHandle(forUpdating: index)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: bytes)
    try file.close()
    let before = try Data(contentsOf: index)
    for verb in Self.verbs { #expect(try await refused(verb, folder) == "errand: “\(folder)” \(clause)\n") }
    #expect(try Data(contentsOf: index) == before)
  }

  @Test func `an unusable folder is named`() async throws {
    let long = "/" + String(repeating: "x", count: 300)
    #expect(
      try await refused(["list"], long) == "errand: “\(long)” cannot be used: File name too long.\n")
    // The superuser can access everything.
    guard geteuid() != 0 else { return }
    let server = try server()
    try await keep(server.url)
    for mode in [0o500, 0o000] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
      #expect(
        try await refused(["list"], folder, .forbidden) == "errand: “\(folder)” cannot be used: Permission denied.\n")
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
  }
}
