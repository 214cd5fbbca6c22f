import Errand
import ErrandTesting
import Foundation
import Testing

/// The ways in which a body ends, and files of every length.
struct DownloadFramingTests {
  @Test(
    arguments: [0, 1, 2, 65_535, 1_048_583, 5_000_000],
    [RangeBehaviour.Framing.length, .chunked, .close])
  func `every length arrives completely`(size: Int, framing: RangeBehaviour.Framing) async throws {
    let fixture = try DownloadFixture(size: size) { $1.framing = framing }
    let file = try await fixture.send().result.get()
    #expect(file.bytes == Int64(size) && file.fetchedBytes == Int64(size) && file.keptBytes == 0)
    #expect(fixture.isRight())
    #expect(fixture.names == ["film.bin"])
  }

  @Test func `empty file replaces an old one`() async throws {
    let fixture = try DownloadFixture(size: 0)
    try fixture.putOld()
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight() && fixture.names == ["film.bin"])
  }

  @Test(arguments: [RangeBehaviour.Framing.length, .chunked])
  func `truncated body is resumed`(framing: RangeBehaviour.Framing) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.framing = framing
      if number < 4 { behaviour.fault = .cut(after: 700_000) }
    }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.fetchedBytes == 3_000_000)
    #expect(fixture.ranges.count == 4)
  }

  @Test func `short body of a known range is resumed`() async throws {
    // The end of the connection ends the body, but the range states its length.
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { number, behaviour in
      behaviour.framing = .close
      if number == 2 { behaviour.fault = .cut(after: 500_000) }
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(fixture.ranges == [nil, "bytes=1000000-", "bytes=1500000-"])
  }

  @Test(arguments: [1, 2_999_999]) func `reset is resumed`(place: Int) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: place) }
    }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.fetchedBytes == 3_000_000)
    #expect(fixture.ranges == [nil, "bytes=\(place)-"])
  }

  @Test func `resumes without progress end`() async throws {
    // The second attempt yields no bytes, so there is no third attempt.
    let fixture = try DownloadFixture { number, behaviour in
      behaviour.fault = number == 1 ? .cut(after: 1_000_000) : .closeBeforeResponse
    }
    let outcome = await fixture.send { $0.takeUps = 100 }
    #expect(outcome.error?.stage == .transport)
    #expect(fixture.names == ["film.bin.part", "film.bin.part.meta"])
    #expect(fixture.server.requests.count <= 3)
  }

  @Test func `resumes are limited`() async throws {
    let fixture = try DownloadFixture { $1.fault = .cut(after: 1_000) }
    let outcome = await fixture.send { $0.takeUps = 5 }
    #expect(outcome.error?.transportKind == .truncated)
    #expect(fixture.ranges.count == 6 && fixture.ranges.last == "bytes=5000-")
  }
}
