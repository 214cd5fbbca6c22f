import ErrandCache
import Foundation
import Testing

/// A kind of store, with a function that makes an empty one.
struct StoreKind: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Whether the store keeps an entry that must not be written to a disk.
  var keepsMemoryOnly = true
  /// Whether the store has a limit.
  var isBounded = true
  /// Makes an empty store. Its folder exists and is empty.
  let make: @Sendable (_ folder: URL, _ limit: Int) -> any CacheStore

  static let memory = StoreKind(testDescription: "memory") { MemoryStore(limit: $1, entryLimit: $1) }
  static let own = StoreKind(testDescription: "a user's own", isBounded: false) { _, _ in DictionaryStore() }

  static let sqlite = StoreKind(testDescription: "SQLite", keepsMemoryOnly: false) {
    SQLiteStore(folder: $0, limit: $1)
  }
  static let tiered = StoreKind(testDescription: "tiered") {
    TieredStore(memory: MemoryStore(limit: 1 << 20, entryLimit: 1 << 20), base: SQLiteStore(folder: $0, limit: $1))
  }

  static let all = [memory, sqlite, tiered, own] + redis
  static let bounded = all.filter(\.isBounded)

  /// Runs a test with a store and its folder, and removes the folder.
  func with(limit: Int = 64 << 20, _ body: (any CacheStore) async throws -> Void) async throws {
    let folder = TestFolder()
    try await body(make(folder.url, limit))
  }
}
