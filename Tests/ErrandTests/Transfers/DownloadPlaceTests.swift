import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// The location of the file, and what may already exist there.
struct DownloadPlaceTests {
  @Test func `old file stays until the end`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { $1.fault = .stall(after: 2_000_000, until: gate) }
    try fixture.putOld()
    async let outcome = fixture.send()
    try await gate.reached()
    #expect(fixture.isOld)
    #expect(fixture.names.contains("film.bin.part"))
    #expect(fixture.mode(of: fixture.part) == 0o600)
    gate.open()
    _ = try await outcome.result.get()
    #expect(fixture.isRight() && fixture.mode(of: fixture.file) == 0o644)
  }

  @Test func `part file and record are private`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    #expect(fixture.mode(of: fixture.part) == 0o600 && fixture.mode(of: fixture.record) == 0o600)
    _ = try await fixture.send { $0.permissions = 0o640 }.result.get()
    #expect(fixture.mode(of: fixture.file) == 0o640)
  }

  @Test func `existing file costs no request`() async throws {
    let fixture = try DownloadFixture()
    try fixture.putOld()
    let outcome = await fixture.send { $0.replaces = false }
    #expect(outcome.error?.code == .fileExists && outcome.error?.stage == .transfer)
    #expect(fixture.isOld && fixture.names == ["film.bin"] && fixture.ranges.isEmpty)
  }

  @Test func `file created during the download is kept`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { $1.fault = .stall(after: 2_000_000, until: gate) }
    async let outcome = fixture.send { $0.replaces = false }
    try await gate.reached()
    try fixture.putOld()
    gate.open()
    #expect(await outcome.error?.code == .fileExists)
    #expect(fixture.isOld && fixture.mode(of: fixture.part) == 0o600)
  }

  @Test(arguments: [true, false]) func `folder at the target is refused`(replaces: Bool) async throws {
    let fixture = try DownloadFixture()
    try FileManager.default.createDirectory(at: fixture.file, withIntermediateDirectories: false)
    let outcome = await fixture.send { $0.replaces = replaces }
    #expect(outcome.error?.code == .fileExists)
    #expect(
      outcome.error?.message == "The file “film.bin” could not be opened: the target is a folder; to download into the "
        + "folder, use `Download.into`.")
    #expect(fixture.names == ["film.bin"] && fixture.ranges.isEmpty)
  }

  @Test func `missing folder is an error`() async throws {
    let fixture = try DownloadFixture()
    let outcome = await fixture.client.outcome(
      of: FileDownload(fixture.server.url, .to(fixture.place("none/film.bin"))))
    #expect(outcome.error?.code == .file && outcome.error?.stage == .transfer)
    #expect(outcome.error?.message.hasPrefix("The folder “none” cannot be used: it does not exist") == true)
    #expect(fixture.ranges.isEmpty)
  }

  @Test func `file in place of the folder is named`() async throws {
    let fixture = try DownloadFixture()
    try fixture.putOld()
    for replaces in [true, false] {
      var download = Download.into(fixture.file)
      download.replaces = replaces
      let outcome = await fixture.client.outcome(of: FileDownload(fixture.server.url, download))
      #expect(outcome.error?.code == .file)
      #expect(outcome.error?.message.hasPrefix("The folder “film.bin” cannot be used: it is a file; ") == true)
    }
    #expect(fixture.isOld && fixture.ranges.isEmpty)
  }

  @Test func `symbolic link at the target is replaced`() async throws {
    let fixture = try DownloadFixture()
    let victim = fixture.place("victim")
    try Data("safe".utf8).write(to: victim)
    try FileManager.default.createSymbolicLink(at: fixture.file, withDestinationURL: victim)
    _ = try await fixture.send().result.get()
    #expect(try Data(contentsOf: victim) == Data("safe".utf8))
    #expect(fixture.isRight())
    #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: fixture.file.path)) == nil)
  }

  /// Files that an attacker may have placed.
  enum Plant: CaseIterable, Sendable {
    case link, danglingLink, hardLink, folder, pipe

    func put(at place: URL, victim: URL) throws {
      switch self {
      case .link: try FileManager.default.createSymbolicLink(at: place, withDestinationURL: victim)
      case .danglingLink:
        try FileManager.default.createSymbolicLink(
          at: place, withDestinationURL: victim.appendingPathExtension("none"))
      case .hardLink: try FileManager.default.linkItem(at: victim, to: place)
      case .folder: try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      case .pipe: try #require(mkfifo(place.path, 0o600) == 0)
      }
    }
  }

  @Test(arguments: Plant.allCases, ["film.bin.part", "film.bin.part.meta"])
  func `planted file is never written`(plant: Plant, name: String) async throws {
    let fixture = try DownloadFixture()
    let victim = fixture.place("victim")
    try Data("safe".utf8).write(to: victim)
    try plant.put(at: fixture.place(name), victim: victim)
    try fixture.putOld()
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .file && outcome.error?.stage == .transfer)
    #expect(try Data(contentsOf: victim) == Data("safe".utf8))
    #expect(fixture.isOld)
    #expect(!FileManager.default.fileExists(atPath: victim.appendingPathExtension("none").path))
  }

  @Test(arguments: Plant.allCases) func `planted record is never written`(plant: Plant) async throws {
    let fixture = try DownloadFixture()
    let victim = fixture.place("victim")
    try Data("safe".utf8).write(to: victim)
    try plant.put(at: fixture.place("film.bin.part.meta.tmp"), victim: victim)
    let outcome = await fixture.send()
    if outcome.error == nil { #expect(fixture.isRight()) }
    #expect(try Data(contentsOf: victim) == Data("safe".utf8))
  }

  @Test func `replaced part file is detected`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { $1.fault = .stall(after: 2_000_000, until: gate) }
    try fixture.putOld()
    async let outcome = fixture.send()
    try await gate.reached()
    try FileManager.default.removeItem(at: fixture.part)
    try Data(count: DownloadFixture.size).write(to: fixture.part)
    gate.open()
    #expect(await outcome.error?.code == .file)
    #expect(fixture.isOld)
  }

  @Test func `URL names the file in a folder`() async throws {
    let fixture = try DownloadFixture()
    let file = try await fixture.client.send(FileDownload(fixture.server.url, .into(fixture.folder)))
    #expect(file.url.lastPathComponent == "file.bin" && fixture.names == ["file.bin"])
  }

  @Test(
    arguments: [
      ("attachment; filename=\"book.txt\"", "book.txt"), ("attachment; filename=\"../../book.txt\"", "book.txt"),
      ("attachment", "file.bin"), ("attachment; filename=\"..\"", "file.bin"),
    ])
  func `server names the file in a folder`(field: String, name: String) async throws {
    let fixture = try DownloadFixture { $1.fields["Content-Disposition"] = field }
    let file = try await fixture.client.send(
      FileDownload(fixture.server.url, .into(fixture.folder, named: .fromServer)))
    #expect(fixture.names == [name])
    #expect(file.url.deletingLastPathComponent().path == fixture.folder.path)
  }

  @Test func `server's name is used only on request`() async throws {
    let fixture = try DownloadFixture { $1.fields["Content-Disposition"] = "attachment; filename=\"book.txt\"" }
    _ = try await fixture.client.send(FileDownload(fixture.server.url, .into(fixture.folder)))
    #expect(fixture.names == ["file.bin"])
  }

  @Test(arguments: [1, 3]) func `server's name is kept when resuming`(parallel: Int) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 {
        behaviour.fields["Content-Disposition"] = "attachment; filename=\"book.txt\""
        behaviour.fault = .cut(after: 1_000_000)
      }
    }
    var download = Download.into(fixture.folder, named: .fromServer)
    download.parallel = parallel
    let file = try await fixture.client.send(FileDownload(fixture.server.url, download))
    #expect(file.url.lastPathComponent == "book.txt" && fixture.names == ["book.txt"])
  }

  /// The first download is interrupted, and continues while the second one runs.
  @Test func `URLs have part files of their own`() async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.fields["Content-Disposition"] = "attachment; filename=\"\(number < 3 ? "one" : "two").txt\""
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
      if number == 2 { behaviour.fault = .stall(after: 1_000_000, until: gate) }
    }
    var download = Download.into(fixture.folder, named: .fromServer)
    download.takeUps = 0
    let requests = ["?id=1", "?id=2"].map { FileDownload(fixture.server.url + $0, download) }
    #expect(await fixture.client.outcome(of: requests[0]).error?.transportKind == .truncated)
    async let first = fixture.client.outcome(of: requests[0])
    try await gate.reached()
    let second = await fixture.client.outcome(of: requests[1])
    gate.open()
    let file = try await first.result.get()
    #expect(file.url.lastPathComponent == "one.txt" && file.keptBytes == 1_000_000)
    #expect(try second.result.get().url.lastPathComponent == "two.txt")
    #expect(fixture.names == ["one.txt", "two.txt"] && fixture.ranges == [nil, "bytes=1000000-", nil])
  }

  @Test(arguments: [nil, "film 7"]) func `part's hash is not in the name`(resource: String?) async throws {
    let fixture = try DownloadFixture()
    var download = Download.into(fixture.folder, named: .fromServer)
    download.resource = resource
    _ = try await fixture.client.send(FileDownload(fixture.server.url + "?id=1", download))
    #expect(fixture.names == ["file.bin"])
  }

  @Test(arguments: [1, 3]) func `taken name fails before the body`(parallel: Int) async throws {
    let fixture = try DownloadFixture()
    let named: @Sendable (inout RangeBehaviour) -> Void = {
      $0.fields["Content-Disposition"] = "attachment; filename=\"book.txt\""
    }
    fixture.answer { _, behaviour in
      named(&behaviour)
      behaviour.fault = .cut(after: 1_000_000)
    }
    var download = Download.into(fixture.folder, named: .fromServer)
    download.takeUps = 0
    _ = await fixture.client.outcome(of: FileDownload(fixture.server.url, download))
    fixture.answer { _, behaviour in named(&behaviour) }
    try Data("another".utf8).write(to: fixture.place("book.txt"))
    download.parallel = parallel
    let outcome = await fixture.client.outcome(of: FileDownload(fixture.server.url, download))
    #expect(outcome.error?.code == .fileExists)
    #expect(try fixture.keptBytes < 2_000_000)
  }

  @Test func `name of an old version is dropped`() async throws {
    let other = RangeResource(size: 3_000_000, seed: 2)
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 {
        behaviour.fields["Content-Disposition"] = "attachment; filename=\"book.txt\""
        behaviour.fault = .cut(after: 1_000_000)
      } else {
        behaviour.resource = other
      }
    }
    _ = try await fixture.client.send(FileDownload(fixture.server.url, .into(fixture.folder, named: .fromServer)))
    #expect(fixture.names == ["file.bin"])
  }

  @Test func `server's name ignores the URL's file`() async throws {
    let fixture = try DownloadFixture { $1.fields["Content-Disposition"] = "attachment; filename=\"book.txt\"" }
    try Data("another".utf8).write(to: fixture.place("file.bin"))
    let download = Download.into(fixture.folder, named: .fromServer)
    let file = try await fixture.client.send(FileDownload(fixture.server.url, download))
    #expect(file.url.lastPathComponent == "book.txt" && fixture.names == ["book.txt", "file.bin"])
  }

  @Test(arguments: ["attachment; filename=\"book.txt\"", "attachment"])
  func `server names a URL without file name`(field: String) async throws {
    let server = try LoopbackServer { _ in
      .generated(count: 1_000).setting("Content-Disposition", to: field)
    }
    defer { server.stop() }
    let fixture = try DownloadFixture()
    let folder = FileDownload(server.url + "/films/", .into(fixture.folder, named: .fromServer))
    _ = try await fixture.client.send(folder)
    #expect(fixture.names == [field == "attachment" ? "download" : "book.txt"])
    let unnamed = await fixture.client.outcome(of: FileDownload(server.url + "/films/", .into(fixture.folder)))
    #expect(unnamed.error?.code == .file && unnamed.error?.stage == .transfer)
  }

  /// Without `Content-Disposition` the name comes from the URL. It is still the server's choice not to send another
  /// one.
  @Test(arguments: ["attachment; filename=\"film.bin\"", nil])
  func `server's name replaces no file`(field: String?) async throws {
    let files = HookedFiles { _, _, _ in nil }
    let fixture = try DownloadFixture(files: files) { $1.fields["Content-Disposition"] = field }
    let old = fixture.place(field == nil ? "file.bin" : "film.bin")
    try Data("old".utf8).write(to: old)
    let download = Download.into(fixture.folder, named: .fromServer)
    let outcome = await fixture.client.outcome(of: FileDownload(fixture.server.url, download))
    #expect(outcome.error?.code == .fileExists)
    #expect(try Data(contentsOf: old) == Data("old".utf8))
    // The error is thrown when the name is known, before the body arrives.
    #expect(!files.calls.contains(.write) && fixture.names == [old.lastPathComponent])
  }

  @Test(arguments: [Plant.folder, .pipe], [true, false])
  func `server's name replaces only files`(plant: Plant, replaces: Bool) async throws {
    let files = HookedFiles { _, _, _ in nil }
    let fixture = try DownloadFixture(files: files) { $1.fields["Content-Disposition"] = Self.bookField }
    try plant.put(at: fixture.place("book.txt"), victim: fixture.file)
    var download = Download.into(fixture.folder, named: .fromServer)
    download.replaces = replaces
    let outcome = await fixture.client.outcome(of: FileDownload(fixture.server.url, download))
    #expect(outcome.error?.code == .fileExists)
    #expect(outcome.error?.message.contains("Download.into") == false)
    // The error is thrown when the name is known, before the body arrives.
    #expect(!files.calls.contains(.write) && fixture.names == ["book.txt"])
  }

  private static let bookField = "attachment; filename=\"book.txt\""

  /// The file is complete, but its name is taken until the next call. The response to that call contains no name.
  @Test(arguments: [true, false]) func `server's name is known to later calls`(replaces: Bool) async throws {
    let gate = Gate()
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.fields["Content-Disposition"] = Self.bookField
      if number == 1 { behaviour.fault = .stall(after: 2_000_000, until: gate) }
    }
    var download = Download.into(fixture.folder, named: .fromServer)
    download.replaces = replaces
    let request = FileDownload(fixture.server.url, download)
    async let first = fixture.client.outcome(of: request)
    try await gate.reached()
    // The record is written after the name was checked.
    #expect(await eventually { (try? InterruptedDownload.all(in: fixture.folder))?.isEmpty == false })
    let place = fixture.place("book.txt")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    gate.open()
    #expect(await first.error?.code == .fileExists)
    try FileManager.default.removeItem(at: place)
    try Data("another".utf8).write(to: fixture.place("file.bin"))
    let file = try await fixture.client.send(request)
    #expect(file.url.lastPathComponent == "book.txt" && file.fetchedBytes == 0)
    #expect(fixture.names == ["book.txt", "file.bin"])
    #expect(try Data(contentsOf: fixture.place("file.bin")) == Data("another".utf8))
    #expect(fixture.ranges == [nil, "bytes=3000000-"])
  }

  @Test func `server's name replaces if allowed`() async throws {
    let fixture = try DownloadFixture { $1.fields["Content-Disposition"] = "attachment; filename=\"film.bin\"" }
    try fixture.putOld()
    var download = Download.into(fixture.folder, named: .fromServer)
    download.replaces = true
    _ = try await fixture.client.send(FileDownload(fixture.server.url, download))
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }

  @Test func `default of replacing follows the naming`() {
    let folder = URL.temporaryDirectory
    #expect(Download.to(folder.appending(path: "a")).replaces && Download.into(folder).replaces)
    #expect(!Download.into(folder, named: .fromServer).replaces)
  }
}
