import BenchHarness
import Errand
import ErrandOutbox
import Foundation

/// Changes that are stored durably: by an outbox, and by one commit of plain SQLite with the same durability.
struct OutboxBenchmark {
  private struct Rename: OutboxRequest {
    var note: Int
    var title = "A title of a length that is usual for a note"
    var path: Path { "/notes/\(note)" }
    var method: HTTPMethod { .patch }
    var arguments: Arguments { ["title": title] }
    var outbox: OutboxRule { .lane("note", note) }
    typealias Response = Nothing
  }

  private let folder = FileManager.default.temporaryDirectory.appending(path: "errand-bench-\(UUID().uuidString)")

  private func removing<Value>(_ body: () async throws -> Value) async throws -> Value {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body()
  }

  /// Adds requests to an outbox that is paused.
  func add(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await removing {
      let client = APIClient(baseURL: "http://127.0.0.1")
      let outbox = try Outbox(folder: folder, client: client, requests: [Rename.self])
      outbox.pause()
      var next = 0
      let result = try await benchmark.sequential {
        next += 1
        return try await outbox.add(Rename(note: next)).state == .queued ? 1 : 0
      }
      await outbox.close()
      return result
    }
  }

  /// The number of waiting requests in the outbox that is opened.
  private static let waiting = 100_000

  /// Opens an outbox with many waiting requests several times. The requests are copies of one, because a hundred thousand
  /// commits would take minutes.
  func open(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await removing {
      let client = APIClient(baseURL: "http://127.0.0.1")
      let first = try Outbox(folder: folder, client: client, requests: [Rename.self])
      first.pause()
      _ = try await first.add(Rename(note: 1))
      await first.close()
      let copy = ["UPDATE one SET id=id+1, lane='note/' || id", "INSERT INTO entry SELECT * FROM one"]
      try BareTable.run(
        ["BEGIN", "CREATE TEMP TABLE one AS SELECT * FROM entry"] + (1..<Self.waiting).flatMap { _ in copy }
          + ["COMMIT"], on: folder.appending(path: "errand-outbox.sqlite").path)
      let clock = Stopwatch()
      for _ in 0..<benchmark.count {
        let outbox = try Outbox(folder: folder, client: client, requests: [Rename.self])
        outbox.pause()
        await outbox.close()
      }
      return clock.result(of: benchmark.count, name: "\(benchmark.client)-\(benchmark.mode)")
    }
  }

  /// Inserts rows of the same size, each in a transaction of its own.
  func commit(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await removing {
      let table = try BareTable(folder.appending(path: "bare.sqlite").path, synchronous: "FULL")
      let body = try JSONEncoder().encode(Rename(note: 1))
      var next = 0
      return try await benchmark.sequential {
        next += 1
        try table.insert("\(next)", body)
        return 1
      }
    }
  }
}
