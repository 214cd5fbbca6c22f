import Errand
import ErrandCore
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// Existing files that count as the finished download.
struct DownloadExistingTests {
  @Test(arguments: [true, false]) func `existing file is accepted without a request`(replaces: Bool) async throws {
    let fixture = try DownloadFixture()
    try fixture.putOld()
    let outcome = await fixture.send {
      $0.acceptsExisting = true
      $0.replaces = replaces
    }
    let file = try outcome.result.get()
    #expect(file.alreadyExisted && file.url.lastPathComponent == "film.bin" && file.bytes == 13)
    #expect(file.keptBytes == 13 && file.fetchedBytes == 0 && file.checkedBy == [])
    #expect(outcome.origin == .local && outcome.metrics.attempts == 0)
    #expect(fixture.isOld && fixture.names == ["film.bin"] && fixture.ranges.isEmpty)
  }

  @Test func `missing file is fetched`() async throws {
    let fixture = try DownloadFixture()
    let file = try await fixture.send { $0.acceptsExisting = true }.result.get()
    #expect(fixture.isRight() && !file.alreadyExisted && file.fetchedBytes == 3_000_000)
  }

  @Test func `file with its checksum is accepted`() async throws {
    let fixture = try DownloadFixture()
    let checksum = try fixture.checksum()
    for isSecond in [false, true] {
      let file = try await fixture.send {
        $0.acceptsExisting = true
        $0.checksum = checksum
      }.result.get()
      #expect(file.alreadyExisted == isSecond && file.bytes == 3_000_000 && file.checkedBy == ["sha-256"])
    }
    #expect(fixture.isRight() && fixture.ranges == [nil])
  }

  @Test(arguments: [true, false]) func `file with another checksum does not count`(replaces: Bool) async throws {
    let fixture = try DownloadFixture()
    try fixture.putOld()
    let checksum = try fixture.checksum()
    let outcome = await fixture.send {
      $0.acceptsExisting = true
      $0.replaces = replaces
      $0.checksum = checksum
    }
    #expect(outcome.error?.code == (replaces ? nil : .fileExists))
    #expect(replaces ? fixture.isRight() : fixture.isOld)
    #expect(fixture.ranges == (replaces ? [nil] : []))
  }

  @Test func `partial file is continued instead`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    try fixture.putOld()
    let file = try await fixture.send { $0.acceptsExisting = true }.result.get()
    #expect(fixture.isRight() && !file.alreadyExisted && file.keptBytes == 1_000_000)
  }

  @Test func `too long file does not count`() async throws {
    let fixture = try DownloadFixture()
    try fixture.putOld()
    let outcome = await fixture.send {
      $0.acceptsExisting = true
      $0.maximumBytes = 12
    }
    #expect(outcome.error?.code == .tooLarge && fixture.isOld && fixture.ranges == [nil])
  }

  @Test func `link to a file counts`() async throws {
    let fixture = try DownloadFixture()
    try Data("moved".utf8).write(to: fixture.place("moved.bin"))
    try FileManager.default.createSymbolicLink(at: fixture.file, withDestinationURL: fixture.place("moved.bin"))
    let file = try await fixture.send { $0.acceptsExisting = true }.result.get()
    #expect(file.alreadyExisted && file.bytes == 5 && fixture.ranges.isEmpty)
    #expect(fixture.names == ["film.bin", "moved.bin"])
  }

  @Test func `folder does not count`() async throws {
    let fixture = try DownloadFixture()
    try FileManager.default.createDirectory(at: fixture.file, withIntermediateDirectories: false)
    let outcome = await fixture.send { $0.acceptsExisting = true }
    #expect(outcome.error?.code == .fileExists && fixture.ranges.isEmpty)
  }

  @Test func `unreadable file does not count`() async throws {
    let files = HookedFiles { _, operation, _ in operation == .read ? EIO : nil }
    let fixture = try DownloadFixture(files: files)
    try fixture.putOld()
    let checksum = try fixture.checksum()
    let outcome = await fixture.send {
      $0.acceptsExisting = true
      $0.replaces = false
      $0.checksum = checksum
    }
    #expect(outcome.error?.code == .fileExists && fixture.isOld && files.openCount == 0)
  }

  @Test func `server's name is asked for`() async throws {
    let fixture = try DownloadFixture { $1.fields["Content-Disposition"] = "attachment; filename=\"film.bin\"" }
    try fixture.putOld()
    var download = Download.into(fixture.folder, named: .fromServer)
    download.acceptsExisting = true
    download.replaces = true
    let file = try await fixture.client.send(FileDownload(fixture.server.url, download))
    #expect(fixture.isRight() && !file.alreadyExisted && fixture.ranges == [nil])
  }
}
