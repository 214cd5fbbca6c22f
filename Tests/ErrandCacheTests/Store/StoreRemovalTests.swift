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
      "/a", account: "one", body: "/a",
      head: Sample.head(time: 10, host: "a.example.com", tag: "feed", groups: "\"feed\", \"one\"")),
    "/b": Sample.entry(
      "/b", account: "one", body: "/b", head: Sample.head(time: 20, host: "b.example.com", groups: "\"one\"")),
    "/c": Sample.entry(
      "/c", account: "two", body: "/c",
      head: Sample.head(time: 30, host: "a.example.com", tag: "x", groups: "\"two\", \"one\"")),
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
    Case(
      testDescription: "group of all accounts", selection: group("one", host: "a.example.com"), left: ["/b"]),
    Case(testDescription: "group", selection: group("two", host: "a.example.com"), left: ["/a", "/b"]),
    Case(testDescription: "group of other host", selection: group("one", host: "b.example.com"), left: ["/a", "/c"]),
    Case(testDescription: "tag is no group", selection: group("x", host: "a.example.com"), left: ["/a", "/b", "/c"]),
    Case(testDescription: "group is no tag", selection: .tag("one"), left: ["/a", "/b", "/c"]),
    Case(testDescription: "older", selection: .olderThan(WallTime(milliseconds: 20)), left: ["/b", "/c"]),
  ]

  private static func group(_ name: String, host: String) -> CacheSelection {
    .group(CacheGroup(origin: "https://\(host)", name: name))
  }

  @Test(arguments: StoreKind.all)
  func `renewal moves an entry to other groups`(_ kind: StoreKind) async throws {
    try await kind.with { store in
      let entry = Sample.entry("/a", head: Sample.head(groups: "\"old\""))
      store.put(entry)
      await store.flush()
      store.renew(entry.key, stored: entry.head.responseTime, head: Sample.head(groups: "\"new\""))
      store.remove(Self.group("old", host: "api.example.com"))
      #expect(await store.text(entry.key) == "body")
      await store.flush()
      #expect(await store.text(entry.key) == "body")
      store.remove(Self.group("new", host: "api.example.com"))
      #expect(await store.isMissing(entry.key))
      await store.flush()
      #expect(await store.size().entries == 0)
    }
  }

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
