import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// The salt of a folder. Without it, the entries of an account cannot be found.
struct StoreSaltTests {
  private static let marker = "what ada may read"
  private let folder = TestFolder()
  private var saltFile: URL { folder.url.appending(path: "errand-cache.salt") }

  private func store() -> SQLiteStore { SQLiteStore(folder: folder.url, limit: 4 << 20) }

  private func fill() async {
    let store = store()
    store.put(Sample.entry("/a", account: "ada", body: Self.marker))
    await store.close()
  }

  @Test(arguments: ["missing", "damaged", "another"], [true, false])
  func `lost salt removes all entries`(_ what: String, _ asksFirst: Bool) async throws {
    await fill()
    #expect(try folder.filesWith(Self.marker).count > 0)
    switch what {
    case "missing": try FileManager.default.removeItem(at: saltFile)
    case "damaged": try Data(count: 40).write(to: saltFile)
    default:
      let other = TestFolder()
      _ = await SQLiteStore(folder: other.url).salt(call: CallState())
      try Data(contentsOf: other.url.appending(path: "errand-cache.salt")).write(to: saltFile)
    }
    let store = store()
    if asksFirst { #expect(await store.salt(call: CallState()) != nil) }
    #expect(await store.isMissing(Sample.key("/a", account: "ada")))
    #expect(try folder.filesWith(Self.marker).isEmpty)
    store.put(Sample.entry("/b"))
    await store.close()
    #expect(await self.store().text(Sample.key("/b")) == "body")
  }

  /// Opens a store while its folder cannot be used, then makes the folder usable again.
  private func storeOfUnusableFolder() async throws -> SQLiteStore {
    let away = TestFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: folder.url, to: away.url)
    try Data("file".utf8).write(to: folder.url)
    let store = store()
    #expect(await store.salt(call: CallState()) != nil)
    try FileManager.default.removeItem(at: folder.url)
    try FileManager.default.moveItem(at: away.url, to: folder.url)
    return store
  }

  @Test func `temporary salt keeps existing entries`() async throws {
    await fill()
    let store = try await storeOfUnusableFolder()
    store.put(Sample.entry("/b"))
    await store.flush()
    #expect(await store.removals(call: CallState(), patience: .zero) == .done)
    store.remove(.host("other.example.com"))
    await store.close()
    let next = self.store()
    #expect(await next.text(Sample.key("/a", account: "ada")) == Self.marker)
    #expect(await next.isMissing(Sample.key("/b")))
  }

  /// The digests of a temporary salt do not identify entries in the folder.
  @Test(arguments: [
    CacheSelection.account(Sample.key("/a", account: "ada").account), .target(Sample.digest("of another salt")),
    .key(Sample.key("/c")), .variant(Sample.key("/c"), Sample.digest("variant")),
  ]) func `removal under temporary salt removes everything`(_ selection: CacheSelection) async throws {
    await fill()
    let store = try await storeOfUnusableFolder()
    store.remove(selection)
    await store.close()
    let next = self.store()
    #expect(await next.isMissing(Sample.key("/a", account: "ada")))
    #expect(try folder.filesWith(Self.marker).isEmpty)
  }

  /// The removal of a replaced entry is not a removal that a caller requested.
  @Test func `failed writes record no removals`() async throws {
    await fill()
    let store = store()
    #expect(await store.list().count == 1)
    let away = TestFolder()
    try FileManager.default.moveItem(at: folder.url, to: away.url)
    try Data("file".utf8).write(to: folder.url)
    for number in 0..<300 { store.put(Sample.entry("/\(number)")) }
    await store.flush()
    #expect(await store.removals(call: CallState(), patience: .zero) == .done)
    try FileManager.default.removeItem(at: folder.url)
    try FileManager.default.moveItem(at: away.url, to: folder.url)
    await store.close()
    #expect(await self.store().text(Sample.key("/a", account: "ada")) == Self.marker)
  }

  @Test func `folder without a salt adopts temporary salt`() async throws {
    let store = try await storeOfUnusableFolder()
    while await store.list().isEmpty {
      store.put(Sample.entry("/b"))
    }
    let salt = await store.salt(call: CallState())
    await store.close()
    let next = self.store()
    #expect(await next.salt(call: CallState()) == salt)
    #expect(await next.text(Sample.key("/b")) == "body")
  }

  @Test func `open store is not emptied for a new salt`() async throws {
    await fill()
    let first = store()
    #expect(await first.list().count == 1)
    try FileManager.default.removeItem(at: saltFile)
    let second = store()
    guard case .unavailable = await second.newest(Sample.key("/a", account: "ada")) else {
      Issue.record("read under another salt")
      return
    }
    #expect(await first.text(Sample.key("/a", account: "ada")) == Self.marker)
    await first.close()
    while await second.list().isEmpty {
      second.put(Sample.entry("/b"))
    }
    #expect(try folder.filesWith(Self.marker).isEmpty)
  }
}
