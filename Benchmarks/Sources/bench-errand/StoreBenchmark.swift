import BenchHarness
import Errand
import ErrandCache
import ErrandHTTP
import Foundation

/// Entries of 1 KiB on a disk: the store, a call through it, plain SQLite, and one file for each entry.
struct StoreBenchmark {
  private static let count = 1_000

  private let folder = FileManager.default.temporaryDirectory.appending(path: "errand-bench-\(UUID().uuidString)")
  private let body = Data((0..<1_024).map { UInt8(truncatingIfNeeded: $0) })

  private func key(_ index: Int) -> CacheKey {
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: (index &+ 1) &* (2 * $0 + 1)) }
    let digest = Digest(bytes: bytes) ?? Digest.zero
    return CacheKey(entry: digest, anyAccount: digest, target: digest, account: digest)
  }

  private var head: CacheEntryHead {
    CacheEntryHead(
      variant: .zero,
      answer: ResponseHead(
        status: 200, reason: "OK",
        fields: ["Content-Type": "application/json", "Content-Length": "1024", "Date": "Sat, 21 Nov 2026 16:00:00 GMT"]),
      requestTime: .now, responseTime: .now, policy: .lifetime(.seconds(3600)),
      label: CacheEntryLabel(method: "GET", url: "http://127.0.0.1/1k", host: "127.0.0.1", tag: nil))
  }

  private func removing<Value>(_ body: () async throws -> Value) async throws -> Value {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body()
  }

  /// Finds entries in the store, which reads them on its own thread.
  func find(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await removing {
      let store = SQLiteStore(folder: folder)
      for index in 0..<Self.count { store.put(CacheEntry(key: key(index), head: head, body: body)) }
      await store.flush()
      let keys = (0..<Self.count).map(key)
      let call = CallState()
      var next = 0
      return try await benchmark.sequential {
        next = (next + 1) % Self.count
        let found = await store.find(
          keys[next], choosing: { $0.isEmpty ? nil : 0 }, call: call, patience: .milliseconds(50))
        guard case .found(let entry) = found else { return 0 }
        return entry.body.count
      }
    }
  }

  /// The time that a put takes from its caller. The store writes later, in the background.
  func put(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await removing {
      let store = SQLiteStore(folder: folder)
      let entries = (0..<Self.count).map { CacheEntry(key: key($0), head: head, body: body) }
      var next = 0
      let result = try await benchmark.sequential {
        next = (next + 1) % Self.count
        store.put(entries[next])
        return 1
      }
      await store.flush()
      return result
    }
  }

  /// A complete call: a hit on the disk without a memory cache, with a response of bytes.
  func send(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await removing {
      var configuration = ClientConfiguration(baseURL: "http://127.0.0.1")
      configuration.transport = .own(InstantTransport())
      configuration.cache.store = .own(ResponseCache(store: SQLiteStore(folder: folder)))
      let client = APIClient(configuration)
      return try await benchmark.sequential { try await client.send(KeptBytes()).count }
    }
  }

  private struct KeptBytes: APIRequest {
    var path: Path { "/1k" }
    var cache: CachePolicy { .lifetime(.seconds(3600)) }
  }

  /// Only a prepared statement of SQLite.
  func bare(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await removing {
      let table = try BareTable(folder.appending(path: "bare.sqlite").path)
      let names = (0..<Self.count).map { "https://api.example.com/users/\($0)" }
      for name in names { try table.insert(name, body) }
      var next = 0
      return try await benchmark.sequential {
        next = (next + 1) % Self.count
        return try table.read(names[next]).count
      }
    }
  }

  /// One file for each entry.
  func files(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await removing {
      let names = (0..<Self.count).map { folder.appending(path: "\($0)") }
      for name in names { try body.write(to: name) }
      var next = 0
      return try await benchmark.sequential {
        next = (next + 1) % Self.count
        return try Data(contentsOf: names[next]).count
      }
    }
  }
}

extension Digest {
  fileprivate static var zero: Digest {
    guard let zero = Digest(bytes: [UInt8](repeating: 0, count: 32)) else { fatalError("32 bytes make a digest") }
    return zero
  }
}
