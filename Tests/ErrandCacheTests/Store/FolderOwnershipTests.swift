import ErrandCore
import ErrandSupport
import Foundation
import StoreSamples
import Testing

@testable import ErrandCache

/// Folders that are not private to the user.
struct FolderOwnershipTests {
  private static let table: [(UInt32, UInt32, FolderFault?)] = [
    (7, 0o700, nil), (7, 0o755, nil), (7, 0o770, .sharedWrite), (7, 0o707, .sharedWrite), (7, 0o1777, .sharedWrite),
    (8, 0o700, .otherOwner(8)), (0, 0o755, .otherOwner(0)),
  ]

  @Test(arguments: table) func `owner and mode decide`(_ owner: UInt32, _ mode: UInt32, _ fault: FolderFault?) {
    #expect(FolderFault(owner: owner, mode: mode, user: 7) == fault)
  }

  private static let parents: [(UInt32, UInt32, FolderFault?)] = [
    (7, 0o700, nil), (0, 0o755, nil), (0, 0o1777, nil), (7, 0o1775, nil), (8, 0o700, .otherParent("/p", 8)),
    (8, 0o1777, .otherParent("/p", 8)), (0, 0o777, .sharedParent("/p", mode: 0o777)),
    (7, 0o775, .sharedParent("/p", mode: 0o775)), (7, 0o702, .sharedParent("/p", mode: 0o702)),
  ]

  @Test(arguments: parents) func `parents follow strict modes`(_ owner: UInt32, _ mode: UInt32, _ fault: FolderFault?) {
    #expect(FolderFault(parent: "/p", owner: owner, mode: 0o40_000 | mode, user: 7) == fault)
  }

  @Test func `a private group may write to a parent`() {
    let modes: [(UInt32, FolderFault?)] = [
      (0o775, nil), (0o770, nil), (0o702, .sharedParent("/p", mode: 0o702)),
      (0o777, .sharedParent("/p", mode: 0o777)),
    ]
    for (mode, fault) in modes {
      let found = FolderFault(parent: "/p", owner: 7, mode: 0o40_000 | mode, hasPrivateGroup: true, user: 7)
      #expect(found == fault, "\(String(mode, radix: 8))")
    }
  }

  private static let links: [(UInt32, FolderFault?)] = [(7, nil), (0, nil), (8, .otherLink("/l", 8))]

  @Test(arguments: links) func `link needs a trusted owner`(_ owner: UInt32, _ fault: FolderFault?) {
    #expect(FolderFault(link: "/l", owner: owner, user: 7) == fault)
  }

  private static let items: [String: FolderPath.Item] = [
    "/": .init(owner: 0, mode: 0o755), "/own": .init(owner: 7, mode: 0o755), "/own/a": .init(owner: 7, mode: 0o700),
    "/tmp": .init(owner: 0, mode: 0o1777), "/tmp/a": .init(owner: 7, mode: 0o700),
    "/open": .init(owner: 7, mode: 0o777), "/open/a": .init(owner: 7, mode: 0o700),
    "/other": .init(owner: 8, mode: 0o755), "/other/a": .init(owner: 7, mode: 0o700),
    "/own/open": .init(owner: 7, mode: 0o777, target: "../open/./a"),
    "/own/loop": .init(owner: 7, mode: 0o777, target: "loop"),
    "/tmp/link": .init(owner: 8, mode: 0o777, target: "/own/a"),
    "/own/safe": .init(owner: 0, mode: 0o777, target: "/own//a/"),
    "/own/dark": .init(owner: 7, mode: 0o777, target: ""),
    "/team": .init(owner: 7, mode: 0o775, hasPrivateGroup: true), "/team/a": .init(owner: 7, mode: 0o700),
  ]

  private static let paths: [(String, FolderFault?)] = [
    ("/own/a", nil), ("/own/a/new/folder", nil), ("/tmp/a", nil), ("/tmp/a/", nil), ("/own/safe", nil),
    ("/own/safe/x", nil), ("/open", nil), ("/", nil), ("/own/loop/a", nil), ("/new/a", nil),
    ("/open/a", .sharedParent("/open", mode: 0o777)), ("/open/new", .sharedParent("/open", mode: 0o777)),
    ("/other/a", .otherParent("/other", 8)), ("/own/../other/a", .otherParent("/other", 8)),
    ("/own/open", .sharedParent("/open", mode: 0o777)), ("/own/open/b", .sharedParent("/open", mode: 0o777)),
    ("/tmp/link", .otherLink("/tmp/link", 8)), ("/tmp/link/a", .otherLink("/tmp/link", 8)),
    ("/own/dark", .unreadableLink("/own/dark")), ("/own/dark/a", .unreadableLink("/own/dark")), ("/team/a", nil),
  ]

  @Test(arguments: paths) func `every parent and link is checked`(_ path: String, _ fault: FolderFault?) {
    var folder = FolderPath(path, user: 7) { Self.items[$0] }
    #expect(folder.fault() == fault)
  }

  private let folder = TestFolder()

  private func make(_ permissions: Int, at url: URL) throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: url.path)
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
    let inside = try FileManager.default.contentsOfDirectory(atPath: url.path)
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

  @Test func `folder below a shared folder is rejected`() async throws {
    try make(0o777, at: folder.url)
    let inner = folder.url.appending(path: "inner")
    try make(0o700, at: inner)
    let store = SQLiteStore(folder: inner)
    store.put(Sample.entry("/a"))
    await store.flush()
    let refusal = try #require(store.refusal)
    #expect(refusal.contains("(mode 777)") && refusal.contains("chmod go-w on “\(folder.url.path)”"), "\(refusal)")
    // A folder that does not exist is not created either.
    let missing = SQLiteStore(folder: folder.url.appending(path: "missing"))
    await missing.flush()
    #expect(missing.refusal != nil && folder.files.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["inner"])
    #expect(chmod(folder.url.path, 0o1777) == 0)
    #expect(store.refusal == nil)
  }

  @Test(
    .enabled(if: geteuid() == 0, "only root can choose any group"), arguments: [(0, true), (54_321, true), (1, false)])
  func `the group of a parent is looked up`(group: UInt32, isPrivate: Bool) throws {
    try make(0o775, at: folder.url)
    #expect(chown(folder.url.path, 0, group) == 0)
    let fault = PrivateFolder.fault(folder.url.appending(path: "cache").path)
    #expect((fault == nil) == isPrivate, "\(String(describing: fault))")
  }

  @Test func `a link that is not UTF-8 is refused`() throws {
    try make(0o700, at: folder.url)
    let link = folder.url.appending(path: "link").path
    #expect(symlink([0x61, -1, 0], link) == 0)
    #expect(PrivateFolder.fault(link) == .unreadableLink(link))
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
  func `another user's folder is rejected`() async throws {
    try make(0o700, at: folder.url)
    #expect(chown(folder.url.path, 12_345, 12_345) == 0)
    try await expectRefusal(folder.url, "another user (user ID 12345)")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a link away"))
  func `another user's link is rejected`() async throws {
    let own = folder.url.appending(path: "own")
    let link = folder.url.appending(path: "link")
    try make(0o700, at: own)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: own)
    #expect(lchown(link.path, 12_345, 12_345) == 0)
    try await expectRefusal(link, "symbolic link that belongs to another user")
    for end in ["/", "//", "/.", "/./"] {
      #expect(PrivateFolder.fault(link.path + end) == .otherLink(link.path, 12_345), "\(end)")
    }
  }

  @Test(arguments: [
    ("/a/link", "/a/link"), ("/a/link/", "/a/link"), ("/a/link//", "/a/link"), ("/a/link/.", "/a/link"),
    ("/a/link/./", "/a/link"), ("/a/.link", "/a/.link"), ("/a/..", "/a/.."), ("link/", "link"), ("/", "/"),
    ("//", "/"), ("/.", "/"), (".", "."), ("./", "."), ("", ""), ("/a\u{600}/", "/a\u{600}"),
  ])
  func `end of a path is removed`(path: String, name: String) {
    #expect(Array(PrivateFolder.withoutEnd(path).utf8) == Array(name.utf8))
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
    #expect(chown(index.path, 12_345, 12_345) == 0)
    let store = SQLiteStore(folder: folder.url)
    #expect(await store.text(Sample.key("/a")) == nil)
    store.put(Sample.entry("/b"))
    await store.flush()
    #expect(await store.text(Sample.key("/b")) == "body")
  }
}
