import Errand
import ErrandCache
import ErrandOutbox
import Foundation

/// Measures an outbox: an addition next to a bare commit of the same durability, and 100,000 entries that wait.
enum Measurement {
  private static let rounds = 300
  private static let many = 100_000

  static func run(_ folder: URL) async throws {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let bare = try bareCommit(folder.appending(path: "bare.sqlite"))
    let place = folder.appending(path: "outbox")
    let add = try await additions(place)
    print("bare commit \(bare), add \(add)")
    try fill(place)
    let before = memory()
    let start = ContinuousClock.now
    let outbox = try open(place)
    let opened = ContinuousClock.now - start
    _ = try await outbox.entries(limit: 1)
    let listed = ContinuousClock.now - start
    print("100,000 entries: opened in \(opened), first entry after \(listed), \(memory() - before) KiB more memory")
    let later = try await median { _ = try await outbox.add(Book(account: "ada", lane: "x", number: $0)) }
    print("add with 100,000 entries \(later), \(memory() - before) KiB more memory")
    await outbox.close()
  }

  private static func open(_ folder: URL) throws -> Outbox {
    var client = ClientConfiguration(baseURL: "http://127.0.0.1:9")
    client.credentials = CredentialStore()
    let outbox = try Outbox(folder: folder, client: APIClient(client), requests: [Book.self])
    outbox.pause()
    return outbox
  }

  private static func median(_ work: (Int) async throws -> Void) async throws -> Duration {
    var times: [Duration] = []
    for round in 0..<rounds {
      let start = ContinuousClock.now
      try await work(round)
      times.append(ContinuousClock.now - start)
    }
    return times.sorted()[rounds / 2]
  }

  private static func bareCommit(_ file: URL) throws -> Duration {
    try Data().write(to: file)
    let database = try SQLiteDatabase(path: file.path) { false }
    _ = try database.text("PRAGMA journal_mode=WAL")
    try database.run("PRAGMA synchronous=FULL")
    try database.run("CREATE TABLE t(id INTEGER PRIMARY KEY, data TEXT)")
    let insert = try database.prepare(
      "INSERT INTO t(data) VALUES ('{\"account\":\"ada\",\"lane\":\"x\",\"number\":1}')")
    var times: [Duration] = []
    for _ in 0..<rounds {
      let start = ContinuousClock.now
      try insert.run()
      times.append(ContinuousClock.now - start)
    }
    return times.sorted()[rounds / 2]
  }

  private static func additions(_ folder: URL) async throws -> Duration {
    let outbox = try open(folder)
    let time = try await median { _ = try await outbox.add(Book(account: "ada", lane: "l\($0 % 10)", number: $0)) }
    await outbox.close()
    return time
  }

  /// Copies the first entry into many lanes of an account that is not logged in.
  private static func fill(_ folder: URL) throws {
    let database = try SQLiteDatabase(path: folder.appending(path: "errand-outbox.sqlite").path) { false }
    let columns = """
      type, version, sealed, state, attempts, failures, conflicts, waits, added, not_before, expires, began, \
      unknown_since, window, attempt_limit, stops, ended, reason, message, status, request, sum, blocks
      """
    try database.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<\(many)) \
      INSERT INTO entry(account, lane, key, head, \(columns)) \
      SELECT 'bo', 'lane/' || i, 'key-' || i, 1, \(columns) FROM entry, n WHERE id=1
      """)
  }

  /// The memory of the process in KiB.
  private static func memory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return status.split(separator: "\n").first { $0.utf8.starts(with: "VmRSS:".utf8) }
      .flatMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } } ?? 0
  }
}
