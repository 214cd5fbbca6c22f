import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Files that belong to requests.
struct OutboxFileTests {
  struct SendPhoto: OutboxRequest {
    var album = "a"
    var photo: OutboxFile
    var path: Path { "/albums/\(album)/photos" }
    var method: HTTPMethod { .post }
    var body: RequestBody? { .file(photo.url) }
    var outbox: OutboxRule { .lane("album", album).supersedes(sameLane: album == "replaced") }
    typealias Response = Nothing

    func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<SendPhoto> {
      .merged(SendPhoto(album: "merged", photo: photo))
    }
  }

  private static func open(_ fixture: OutboxFixture) throws -> Outbox { try fixture.open([SendPhoto.self]) }

  /// The names of the files in the folder of the outbox.
  private static func kept(_ fixture: OutboxFixture) -> [String] {
    SystemFile.names(fixture.folder.appending(path: "errand-outbox.files").path)
  }

  @Test func `file is sent although the app removed it`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try Self.open(fixture)
    outbox.pause()
    let url = try fixture.file("first")
    let receipt = try await outbox.add(SendPhoto(photo: OutboxFile(url)))
    try FileManager.default.removeItem(at: url)
    #expect(Self.kept(fixture).count == 1)
    outbox.resume()
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.bodies == ["first"])
    #expect(Self.kept(fixture).isEmpty)
    await outbox.close()
  }

  @Test func `file survives a restart`() async throws {
    let fixture = try OutboxFixture()
    let first = try Self.open(fixture)
    first.pause()
    let url = try fixture.file("first")
    let id = try await first.add(SendPhoto(photo: OutboxFile(url))).id
    // As apps save files: the new content is another file with the same name.
    try Data("second".utf8).write(to: url, options: .atomic)
    await first.close()
    let second = try Self.open(fixture)
    #expect(try await second.reaches(id, .delivered))
    #expect(fixture.bodies == ["first"])
    await second.close()
  }

  @Test func `changed file is not sent`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try Self.open(fixture)
    outbox.pause()
    let id = try await outbox.add(SendPhoto(photo: OutboxFile(try fixture.file("first")))).id
    let name = try #require(Self.kept(fixture).first)
    let kept = fixture.folder.appending(path: "errand-outbox.files/\(name)")
    let handle = try FileHandle(forWritingTo: kept)
    try handle.write(contentsOf: Data("FIRST and more".utf8))
    try handle.close()
    outbox.resume()
    #expect(try await outbox.reaches(id, .parked))
    let entry = try await outbox.entry(id)
    #expect(entry?.reason?.message.contains("“photo.jpg” was changed or removed after the request was added") == true)
    #expect(fixture.server.requests.isEmpty)
    try await outbox.edit(id, to: SendPhoto(photo: OutboxFile(try fixture.file("second", name: "other.jpg"))))
    #expect(try await outbox.reaches(id, .delivered))
    #expect(fixture.bodies == ["second"])
    #expect(Self.kept(fixture).isEmpty)
    await outbox.close()
  }

  @Test func `missing file is not added`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try Self.open(fixture)
    for url in [fixture.folder.appending(path: "nothing.jpg"), fixture.folder] {
      let error = await #expect(throws: OutboxError.self) {
        try await outbox.add(SendPhoto(photo: OutboxFile(url)))
      }
      #expect(error?.code == .file)
      #expect(error?.message.contains(url.lastPathComponent) == true)
    }
    #expect(try await outbox.summary.counts.isEmpty)
    #expect(Self.kept(fixture).isEmpty)
    await outbox.close()
  }

  @Test func `request that cannot be stored leaves no file`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try Self.open(fixture)
    try await outbox.runner.perform { try $0.store.run("PRAGMA query_only=1") }
    let photo = OutboxFile(try fixture.file("first"))
    let error = await #expect(throws: OutboxError.self) { try await outbox.add(SendPhoto(photo: photo)) }
    #expect(error?.code == .disk)
    #expect(Self.kept(fixture).isEmpty)
    await outbox.close()
  }

  @Test func `replaced and discarded entries leave no file`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try Self.open(fixture)
    outbox.pause()
    let photo = OutboxFile(try fixture.file("first"))
    _ = try await outbox.add(SendPhoto(album: "replaced", photo: photo))
    let second = try await outbox.add(SendPhoto(album: "replaced", photo: photo))
    #expect(Self.kept(fixture).count == 1)
    try await outbox.discard(second.id)
    #expect(Self.kept(fixture).isEmpty)
    await outbox.close()
  }

  @Test func `rejected entry keeps its file for a resend`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(400))
    let outbox = try Self.open(fixture)
    let receipt = try await outbox.add(SendPhoto(photo: OutboxFile(try fixture.file("first"))))
    #expect(await receipt.outcome.state == .rejected)
    #expect(Self.kept(fixture).count == 1)
    try await outbox.resend(receipt.id)
    #expect(try await outbox.reaches(receipt.id, .delivered))
    #expect(fixture.bodies == ["first", "first"])
    await outbox.close()
  }

  @Test func `resolved conflict keeps the file`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(412))
    let outbox = try Self.open(fixture)
    let receipt = try await outbox.add(SendPhoto(photo: OutboxFile(try fixture.file("first"))))
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.paths == ["/albums/a/photos", "/albums/merged/photos"])
    #expect(fixture.bodies == ["first", "first"])
    #expect(Self.kept(fixture).isEmpty)
    await outbox.close()
  }

  /// Resolves a conflict by another file, as soon as the latch is open.
  struct Exchanged: OutboxRequest {
    static let latch = Latch()
    var photo: OutboxFile
    var other: URL
    var path: Path { "/exchanged" }
    var method: HTTPMethod { .put }
    var body: RequestBody? { .file(photo.url) }
    typealias Response = Nothing

    func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<Exchanged> {
      try await Self.latch.wait()
      return .keepMine(Exchanged(photo: OutboxFile(other), other: other))
    }
  }

  @Test func `cancelled decision leaves no file`() async throws {
    let fixture = try OutboxFixture { _ in .status(412) }
    let sender = try fixture.open([Exchanged.self])
    try await sender.handleEvents()  // so that this outbox has the right to send
    // As if another process cancelled the entry, so that the decision continues.
    let other = try fixture.open([Exchanged.self])
    let request = Exchanged(
      photo: OutboxFile(try fixture.file("first")), other: try fixture.file("second", name: "other.jpg"))
    let id = try await sender.add(request).id
    #expect(await Exchanged.latch.reached())
    #expect(try await other.cancel(id) == .unknown)
    Exchanged.latch.open()
    #expect(try await until { try await sender.runner.perform { $0.running.isEmpty } })
    #expect(Self.kept(fixture).count == 1)
    try await sender.discard(id)
    #expect(Self.kept(fixture).isEmpty)
    await sender.close()
    await other.close()
  }

  @Test func `file without an entry is removed after a day`() async throws {
    let fixture = try OutboxFixture()
    try await Self.open(fixture).close()
    let files = OutboxFolder(fixture.folder).files
    try files.take(try fixture.file("first"), as: AttachedFiles.newName())
    let now = WallTime.now
    files.sweep(keeping: [], at: now.advanced(byMilliseconds: 86_000_000))
    #expect(Self.kept(fixture).count == 1)
    files.sweep(keeping: Set(Self.kept(fixture)), at: now.advanced(byMilliseconds: 87_000_000))
    #expect(Self.kept(fixture).count == 1)
    files.sweep(keeping: [], at: now.advanced(byMilliseconds: 87_000_000))
    #expect(Self.kept(fixture).isEmpty)
  }

  @Test(arguments: ["../secret", "", "0123", "00000000-0000-0000-0000-00000000000/", String(repeating: "é", count: 18)])
  func `damaged name stays in the folder`(name: String) { #expect(!AttachedFiles.isName(name)) }
}
