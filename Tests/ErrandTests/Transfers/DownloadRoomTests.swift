import Errand
import ErrandTesting
import Foundation
import Testing

/// Disks that are really full, in a separate process, which resumes when space is available.
@Suite(.serialized) struct DownloadRoomTests {
  @Test(arguments: ShortRoom.here, [true, false])
  func `full disk fails and can be resumed`(room: ShortRoom, hasLength: Bool) async throws {
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
      // Bytes that were stored before the disk was full are not fetched again.
      let range = try #require(fixture.ranges.last ?? nil)
      #expect(Int64(range.dropFirst("bytes=".count).dropLast()) ?? 0 >= kept)
    }
  }

  @Test(arguments: ShortRoom.here, [1, 4])
  func `missing space fails before the body`(room: ShortRoom, parallel: Int) async throws {
    let fixture = try DownloadFixture(size: 1_800_000, in: try room.folder())
    try fixture.putOld()
    let filler = try room.filled(leaving: 1_000_000)
    let limit = room.limit(1_000_000)
    let full = try await DownloadProcess(fixture.server.url, fixture.file, room: limit, parallel: parallel).finish()
    #expect(full == .diskFull && fixture.isOld)
    // A file size limit of the process takes effect only on a write, so the bytes before it are kept, unless the first
    // write is already behind the limit.
    let kept = ["film.bin", "film.bin.part", "film.bin.part.meta"]
    let allowed = room == .ofDisk ? [["film.bin"]] : [["film.bin"], kept]
    #expect(allowed.contains(fixture.names), "\(fixture.names)")
    filler?.remove()
    let done = try await DownloadProcess(fixture.server.url, fixture.file, parallel: parallel).finish()
    #expect(done == .done && fixture.isRight())
  }
}
