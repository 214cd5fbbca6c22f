import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

/// The effect of each selection for removal, in every store.
struct StoreRemovalTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let selection: CacheSelection
    let left: Set<String>
  }

  private static let entries = [
    "/a": Sample.entry(
      "/a", account: "one", body: "/a", head: Sample.head(time: 10, host: "a.example.com", tag: "feed")),
    "/b": Sample.entry("/b", account: "one", body: "/b", head: Sample.head(time: 20, host: "b.example.com")),
    "/c": Sample.entry("/c", account: "two", body: "/c", head: Sample.head(time: 30, host: "a.example.com", tag: "x")),
  ]

  private static let cases = [
    Case(testDescription: "all", selection: .all, left: []),
    Case(testDescription: "key", selection: .key(Sample.key("/a", account: "one")), left: ["/b", "/c"]),
    Case(testDescription: "key of nobody", selection: .key(Sample.key("/a")), left: ["/a", "/b", "/c"]),
    Case(
      testDescription: "variant", selection: .variant(Sample.key("/a", account: "one"), Sample.digest("variant ")),
      left: ["/b", "/c"]),
    Case(
      testDescription: "no variant", selection: .variant(Sample.key("/a", account: "one"), Sample.digest("variant x")),
      left: ["/a", "/b", "/c"]),
    Case(
      testDescription: "target", selection: .target(Sample.key("/b", account: "one", method: "POST").target),
      left: ["/a", "/c"]),
    Case(testDescription: "account", selection: .account(Sample.digest("account one")), left: ["/c"]),
    Case(testDescription: "host", selection: .host("a.example.com"), left: ["/b"]),
    Case(testDescription: "tag", selection: .tag("feed"), left: ["/b", "/c"]),
    Case(testDescription: "older", selection: .olderThan(WallTime(milliseconds: 20)), left: ["/b", "/c"]),
  ]

  @Test(arguments: StoreKind.all, cases)
  func `selection removes only matching entries`(_ kind: StoreKind, _ row: Case) async throws {
    for when in 0..<3 {
      try await kind.with { store in
        for entry in Self.entries.values { store.put(entry) }
        if when > 0 { await store.flush() }
        store.remove(row.selection)
        if when > 1 { await store.flush() }
        #expect(await Self.left(store) == row.left)
        await store.flush()
        #expect(await Self.left(store) == row.left)
        #expect(await store.size().entries == row.left.count)
        #expect(await Set(store.list().map(\.key)) == Set(row.left.compactMap { Self.entries[$0]?.key }))
      }
    }
  }

  @Test(arguments: StoreKind.all, cases)
  func `entries put after removal stay`(_ kind: StoreKind, _ row: Case) async throws {
    try await kind.with { store in
      for entry in Self.entries.values { store.put(entry) }
      await store.flush()
      store.remove(row.selection)
      for entry in Self.entries.values { store.put(entry) }
      #expect(await Self.left(store).count == 3)
      await store.flush()
      #expect(await Self.left(store).count == 3)
    }
  }

  @Test(arguments: StoreKind.all, cases)
  func `removed entry is not renewed`(_ kind: StoreKind, _ row: Case) async throws {
    try await kind.with { store in
      for entry in Self.entries.values { store.put(entry) }
      await store.flush()
      store.remove(row.selection)
      for entry in Self.entries.values { store.renew(entry.key, stored: entry.head.responseTime, head: entry.head) }
      #expect(await Self.left(store) == row.left)
      await store.flush()
      #expect(await Self.left(store) == row.left)
    }
  }

  private static func left(_ store: any CacheStore) async -> Set<String> {
    var left: Set<String> = []
    for (path, entry) in entries {
      if let text = await store.text(entry.key) {
        #expect(text == path)
        left.insert(path)
      }
    }
    return left
  }
}
