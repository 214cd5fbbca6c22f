import Errand
import ErrandSupport
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// Failing file systems while several ranges arrive concurrently.
struct DownloadSegmentFaultTests {
  private static let size = 3_500_000
  /// The number of writes that fail in turn: `ERRAND_DOWNLOAD_FAULTS`, or 6, spread over all writes.
  private static let writes = ProcessInfo.processInfo.environment["ERRAND_DOWNLOAD_FAULTS"].flatMap(Int.init) ?? 6

  /// A download of ranges, one of which is interrupted.
  private static func story(_ files: any TransferFiles, replaces: Bool) throws -> DownloadFixture {
    let fixture = try DownloadFixture(size: size, files: files) { number, behaviour in
      if number == 3 { behaviour.fault = .cut(after: 400_000) }
    }
    if replaces { try fixture.putOld() }
    return fixture
  }

  private static func send(_ fixture: DownloadFixture, replaces: Bool) async throws -> Outcome<DownloadedFile> {
    let checksum = try fixture.checksum()
    return await fixture.send {
      $0.parallel = 3
      $0.replaces = replaces
      $0.checksum = checksum
    }
  }

  /// The numbers of the calls that fail: all except for writes, of which only some are tested because they are many and
  /// alike. The call at a given number differs from run to run.
  private static func turns(of calls: [FileFailure.Operation]) -> [Int] {
    let written = calls.indices.filter { calls[$0] == .write }
    let step = max(1, written.count / max(writes, 1))
    let chosen = Set(written.indices.filter { $0.isMultiple(of: step) }.map { written[$0] })
    return calls.indices.filter { calls[$0] != .write || chosen.contains($0) }.map { $0 + 1 }
  }

  @Test(arguments: zip([EIO, ENOSPC], [true, false]))
  func `every file operation may fail`(code: Int32, replaces: Bool) async throws {
    let healthy = HookedFiles { _, _, _ in nil }
    let fixture = try Self.story(healthy, replaces: replaces)
    _ = try await Self.send(fixture, replaces: replaces).result.get()
    #expect(fixture.isRight() && healthy.openCount == 0)
    let turns = Self.turns(of: healthy.calls)
    #expect(turns.count > 20)
    for turn in turns {
      let files = HookedFiles(failing: turn, code)
      let fixture = try Self.story(files, replaces: replaces)
      let outcome = try await Self.send(fixture, replaces: replaces)
      let text = "turn \(turn) of \(files.calls.count)"
      if outcome.error == nil {
        // A record that could not be removed may be left.
        #expect(fixture.isRight() && !fixture.names.contains("film.bin.part"), "\(text)")
      } else {
        let error = try #require(outcome.error)
        // An unreadable file is not a wrong checksum.
        #expect(error.stage == .transfer && error.code != .checksumMismatch, "\(text): \(error)")
        // If the failure is after the rename, the complete file is in place.
        #expect((replaces && fixture.isOld) || !fixture.names.contains("film.bin") || fixture.isRight(), "\(text)")
      }
      #expect(files.openCount == 0, "\(text) leaves a file open")
      fixture.answer()
      _ = try await APIClient(baseURL: "").send(fixture.request())
      #expect(fixture.isRight() && fixture.names == ["film.bin"], "\(text), then healthy")
    }
  }

  @Test(arguments: [ENOSPC, EDQUOT, EFBIG]) func `full disk fails and can be resumed`(code: Int32) async throws {
    let room = Locked(2_500_000)
    let files = HookedFiles { _, operation, bytes in
      guard operation == .write else { return nil }
      return room.withLock { room in
        room -= bytes
        return room < 0 ? code : nil
      }
    }
    let fixture = try Self.story(files, replaces: true)
    let outcome = try await Self.send(fixture, replaces: true)
    #expect(outcome.error?.code == .diskFull && outcome.error?.stage == .transfer)
    #expect(fixture.isOld && files.openCount == 0)
    room.withLock { $0 = .max }
    fixture.answer()
    let file = try await Self.send(fixture, replaces: true).result.get()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
    // The first range was stored on the disk.
    #expect(file.keptBytes >= 1 << 20)
  }
}
