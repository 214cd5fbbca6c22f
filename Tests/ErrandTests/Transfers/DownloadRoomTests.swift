import Errand
import ErrandTesting
import Foundation
import Testing

/// Disks that are full in earnest, met by a process of its own, which goes on once there is room.
@Suite(.serialized, .timeLimit(.minutes(3))) struct DownloadRoomTests {
  @Test(arguments: ShortRoom.here, [true, false])
  func `full disk is told and gone on from`(room: ShortRoom, hasLength: Bool) async throws {
    for left in [0, 200_000] {
      let fixture = try DownloadFixture(size: 900_000, in: try room.folder()) { number, behaviour in
        if !hasLength { behaviour.framing = .chunked }
        if number == 1 { behaviour.fault = .cut(after: 400_000) }
      }
      let begun = try await DownloadProcess(fixture.server.url, fixture.file).finish()
      #expect(begun == .failed)
      let kept = try #require(try InterruptedDownload.all(in: fixture.folder).first).bytes
      #expect(kept > 390_000)
      let filler = try room.filled(leaving: left)
      let limit = room.limit(Int(kept) + left)
      let full = try await DownloadProcess(fixture.server.url, fixture.file, room: limit).finish()
      #expect(full == .diskFull)
      #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
      filler?.remove()
      let done = try await DownloadProcess(fixture.server.url, fixture.file).finish()
      #expect(done == .done && fixture.isRight() && fixture.names == ["film.bin"])
      // What was there before the disk was full is not fetched again.
      let range = try #require(fixture.ranges.last ?? nil)
      #expect(Int64(range.dropFirst("bytes=".count).dropLast()) ?? 0 >= kept)
    }
  }

  @Test(arguments: ShortRoom.here, [1, 4])
  func `missing room is told before the body`(room: ShortRoom, parallel: Int) async throws {
    let fixture = try DownloadFixture(size: 1_800_000, in: try room.folder())
    try fixture.putOld()
    let filler = try room.filled(leaving: 1_000_000)
    let limit = room.limit(1_000_000)
    let full = try await DownloadProcess(fixture.server.url, fixture.file, room: limit, parallel: parallel).finish()
    #expect(full == .diskFull && fixture.isOld)
    // What a process may write at most shows when it writes: what it could is kept.
    let left = room == .ofDisk ? ["film.bin"] : ["film.bin", "film.bin.part", "film.bin.part.meta"]
    #expect(fixture.names == left)
    filler?.remove()
    let done = try await DownloadProcess(fixture.server.url, fixture.file, parallel: parallel).finish()
    #expect(done == .done && fixture.isRight())
  }
}
