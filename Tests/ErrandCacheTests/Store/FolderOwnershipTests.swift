import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// Folders that are not private to the user.
@Suite struct FolderOwnershipTests {
  private static let table: [(UInt32, UInt32, UInt32?, FolderFault?)] = [
    (7, 0o700, nil, nil), (7, 0o755, nil, nil), (7, 0o770, nil, .sharedWrite), (7, 0o707, nil, .sharedWrite),
    (7, 0o1777, nil, .sharedWrite), (8, 0o700, nil, .otherOwner(8)), (0, 0o755, nil, .otherOwner(0)),
    (7, 0o700, 7, nil), (7, 0o700, 0, nil), (7, 0o700, 8, .otherLink(8)), (8, 0o700, 7, .otherOwner(8)),
  ]

  @Test(arguments: table) func `owner and mode decide`(
    _ owner: UInt32, _ mode: UInt32, _ linkOwner: UInt32?, _ fault: FolderFault?
  ) {
    #expect(FolderFault(owner: owner, mode: mode, linkOwner: linkOwner, user: 7) == fault)
  }

  private let folder = TestFolder()

  private func make(_ permissions: Int, at url: URL) throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: url.path())
  }

  private func expectRefusal(_ url: URL, _ words: String) async throws {
    let store = SQLiteStore(folder: url)
    store.put(Sample.entry("/a"))
    store.remove(.all)
    await store.flush()
    store.put(Sample.entry("/a"))
    await store.flush()
    if case .found = await store.newest(Sample.key("/a")) { Issue.record("found in a refused folder") }
    let refusal = try #require(store.refusal)
    #expect(refusal.contains(url.path(percentEncoded: false)) && refusal.contains(words))
    let inside = try FileManager.default.contentsOfDirectory(atPath: url.path())
    #expect(inside.isEmpty, "\(inside)")
    #expect(ResponseCache(store: TieredStore(base: store)).refusals == [refusal])
    guard case .notPrivate(refusal) = StoreCondition(of: url) else {
      Issue.record("\(StoreCondition(of: url))")
      return
    }
  }

  @Test func `shared folder is rejected unchanged`() async throws {
    try make(0o1777, at: folder.url)
    try await expectRefusal(folder.url, "Other users may write")
    #expect(try folder.permissions(folder.url) == 0o1777)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
  func `another user's folder is rejected`() async throws {
    try make(0o700, at: folder.url)
    #expect(chown(folder.url.path(), 12_345, 12_345) == 0)
    try await expectRefusal(folder.url, "another user (user ID 12345)")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a link away"))
  func `another user's link is rejected`() async throws {
    let own = folder.url.appending(path: "own")
    let link = folder.url.appending(path: "link")
    try make(0o700, at: own)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: own)
    #expect(lchown(link.path(), 12_345, 12_345) == 0)
    try await expectRefusal(link, "symbolic link that belongs to another user")
    for end in ["/", "//", "/.", "/./"] {
      #expect(SystemFile.folderFault(link.path() + end) == .otherLink(12_345), "\(end)")
    }
  }

  @Test(arguments: [
    ("/a/link", "/a/link"), ("/a/link/", "/a/link"), ("/a/link//", "/a/link"), ("/a/link/.", "/a/link"),
    ("/a/link/./", "/a/link"), ("/a/.link", "/a/.link"), ("/a/..", "/a/.."), ("link/", "link"), ("/", "/"),
    ("//", "/"), ("/.", "/"), (".", "."), ("./", "."), ("", ""), ("/a\u{600}/", "/a\u{600}"),
  ])
  func `end of a path is removed`(path: String, name: String) {
    #expect(Array(SystemFile.withoutEnd(path).utf8) == Array(name.utf8))
  }

  @Test func `own folder is made private`() async throws {
    try make(0o777, at: folder.url)
    let link = TestFolder()
    try FileManager.default.createSymbolicLink(at: link.url, withDestinationURL: folder.url)
    let store = SQLiteStore(folder: link.url)
    store.put(Sample.entry("/a"))
    await store.flush()
    #expect(await store.text(Sample.key("/a")) == "body")
    #expect(try folder.permissions(folder.url) == 0o700 && store.refusal == nil)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func `another user's index is renamed`() async throws {
    let first = SQLiteStore(folder: folder.url)
    first.put(Sample.entry("/a"))
    await first.close()
    let index = folder.url.appending(path: "errand-cache.sqlite")
    #expect(chown(index.path(), 12_345, 12_345) == 0)
    let store = SQLiteStore(folder: folder.url)
    #expect(await store.text(Sample.key("/a")) == nil)
    store.put(Sample.entry("/b"))
    await store.flush()
    #expect(await store.text(Sample.key("/b")) == "body")
  }
}
