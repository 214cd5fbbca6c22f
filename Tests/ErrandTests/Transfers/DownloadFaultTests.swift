import Errand
import ErrandSupport
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// Failing file systems, tested through the whole download engine.
struct DownloadFaultTests {
  /// A download with every complication: an interruption, a wrong range, a restart, a checksum.
  private static func story(_ files: any TransferFiles) throws -> DownloadFixture {
    try DownloadFixture(size: 500_000, files: files) { number, behaviour in
      switch number {
      case 1, 3: behaviour.fault = .cut(after: 300_000)
      case 2: behaviour.deviation = .movedPart(by: 7)
      default: break
      }
    }
  }

  @Test(arguments: [EIO, ENOSPC, EACCES], [true, false])
  func `every file operation may fail`(code: Int32, replaces: Bool) async throws {
    var turn = 1
    while true {
      let files = HookedFiles(failing: turn, code)
      let fixture = try Self.story(files)
      if replaces { try fixture.putOld() }
      let checksum = try fixture.checksum()
      let outcome = await fixture.send {
        $0.replaces = replaces
        $0.checksum = checksum
      }
      let text = "turn \(turn), \(files.calls.last.map(String.init(describing:)) ?? "-")"
      if outcome.error == nil {
        #expect(fixture.isRight() && outcome.value?.checkedBy == ["sha-256"], "\(text)")
      } else {
        let error = try #require(outcome.error)
        // An unreadable file is not a wrong checksum.
        #expect(error.stage == .transfer && error.code != .checksumMismatch, "\(text): \(error)")
        // If the failure is after the rename, the complete file is in place.
        #expect((replaces && fixture.isOld) || !fixture.names.contains("film.bin") || fixture.isRight(), "\(text)")
      }
      #expect(files.openCount == 0, "\(text) leaves a file open")
      let healthy = APIClient(ClientConfiguration(baseURL: ""))
      fixture.answer()
      _ = try await healthy.send(fixture.request())
      #expect(fixture.isRight() && fixture.names == ["film.bin"], "\(text), then healthy")
      if files.calls.count < turn { break }
      turn += 1
    }
    #expect(turn > 25)
  }

  /// NFS gives the files of root to another user. The part could not be opened again, so it is not kept.
  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func `part of another owner is not kept`() async throws {
    let part = Locked("")
    let files = HookedFiles { _, operation, _ in
      if operation == .lock { chown(part.withLock { $0 }, 12_345, 12_345) }
      return nil
    }
    let fixture = try DownloadFixture(files: files)
    part.withLock { $0 = fixture.part.path }
    fixture.answer { _, behaviour in behaviour.fault = .cut(after: 1_000_000) }
    let outcome = await fixture.send { $0.takeUps = 0 }
    #expect(outcome.error?.transportKind == .truncated && fixture.names == [])
    fixture.answer()
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 0)
  }

  /// The disk may have space for the record, or for nothing.
  @Test(arguments: [ENOSPC, EDQUOT, EFBIG], [true, false])
  func `full disk fails and can be resumed`(code: Int32, hasRecord: Bool) async throws {
    let room = Locked(2_500_000)
    let files = HookedFiles { _, operation, bytes in
      guard operation == .write, bytes > 1_000 || !hasRecord else { return nil }
      return room.withLock { room in
        room -= bytes
        return room < 0 ? code : nil
      }
    }
    let fixture = try DownloadFixture(files: files)
    try fixture.putOld()
    await fixture.begin()
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .diskFull && outcome.error?.stage == .transfer)
    #expect(fixture.isOld)
    room.withLock { $0 = .max }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes >= (hasRecord ? 1_500_000 : 1_000_000))
    #expect(fixture.names == ["film.bin"])
  }

  /// The file has no announced length, so no space is reserved and no record is written at the start.
  @Test func `part without a record is removed`() async throws {
    let room = Locked(2_000_000)
    let files = HookedFiles { _, operation, bytes in
      guard operation == .write else { return nil }
      return room.withLock { room in
        room -= bytes
        return bytes < 1_000 || room < 0 ? ENOSPC : nil
      }
    }
    let fixture = try DownloadFixture(files: files) { _, behaviour in behaviour.framing = .chunked }
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .diskFull)
    #expect(fixture.names == [] && files.openCount == 0)
  }

  @Test func `missing space fails before the body`() async throws {
    let files = HookedFiles { _, operation, _ in operation == .reserve ? ENOSPC : nil }
    let fixture = try DownloadFixture(files: files)
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .diskFull)
    #expect(!files.calls.contains(.write))
    #expect(fixture.names == [])
  }

  @Test(arguments: [1, 3]) func `missing space fails before the rest`(parallel: Int) async throws {
    let isFull = Locked(false)
    let files = HookedFiles { _, operation, _ in operation == .reserve && isFull.withLock { $0 } ? ENOSPC : nil }
    let fixture = try DownloadFixture(files: files)
    await fixture.begin()
    let writes = files.calls.filter { $0 == .write }.count
    isFull.withLock { $0 = true }
    let outcome = await fixture.send { $0.parallel = parallel }
    #expect(outcome.error?.code == .diskFull && outcome.error?.stage == .transfer)
    #expect(files.calls.filter { $0 == .write }.count == writes && files.openCount == 0)
    #expect(try fixture.keptBytes == 1_000_000)
    isFull.withLock { $0 = false }
    let file = try await fixture.send { $0.parallel = parallel }.result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
  }

  @Test func `full disk fails in another process`() async throws {
    let fixture = try DownloadFixture(size: 20_000_000)
    try fixture.putOld()
    let full = try await DownloadProcess(fixture.server.url, fixture.file, room: 12_000_000).finish()
    #expect(full == .diskFull)
    #expect(fixture.isOld)
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.bytes == 20_000_000)
  }
}
