import Errand
import ErrandTesting
import Foundation
import Testing

/// The maximum size of a download.
struct DownloadSizeTests {
  private static let size = Int64(DownloadFixture.size)

  @Test(arguments: [true, false], [1, 4])
  func `larger file is refused`(hasLength: Bool, parallel: Int) async throws {
    let fixture = try DownloadFixture { _, behaviour in
      if !hasLength { behaviour.framing = .chunked }
    }
    try fixture.putOld()
    let error = await fixture.send {
      $0.maximumBytes = Self.size - 1
      $0.parallel = parallel
    }.error
    #expect(error?.stage == .transfer && error?.code.rawValue == "tooLarge")
    #expect(error?.message.contains("`maximumBytes` allows") == true)
    #expect(fixture.isOld && fixture.names == ["film.bin"])
  }

  @Test(arguments: [true, false])
  func `file of maximum size is accepted`(hasLength: Bool) async throws {
    let fixture = try DownloadFixture { _, behaviour in
      if !hasLength { behaviour.framing = .chunked }
    }
    let outcome = await fixture.send { $0.maximumBytes = Self.size }
    #expect(outcome.value?.bytes == Self.size && fixture.isRight())
  }

  @Test func `part of a larger file is removed`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
    let asked = fixture.ranges.count
    let error = await fixture.send { $0.maximumBytes = 2_000_000 }.error
    #expect(error?.code.rawValue == "tooLarge")
    #expect(fixture.names.isEmpty && fixture.ranges.count == asked)
  }
}
