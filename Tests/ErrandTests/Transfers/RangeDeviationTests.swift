import Errand
import ErrandTesting
import Foundation
import Testing

/// Servers whose range responses contradict their headers: the file is never wrong.
struct RangeDeviationTests {
  /// Contradictions that the response headers alone reveal.
  static let visible: [RangeDeviation] = [
    .movedPart(by: 5), .movedPart(by: -5), .noContentRange, .twoContentRanges, .contentRange("bytes 1000000-2999999"),
    .contentRange("items 1000000-2999999/3000000"), .contentRange("bytes */3000000"),
    .contentRange("bytes 1000000-999999/3000000"), .contentRange("bytes 1000000-2999999/2999999"),
    .contentRange("bytes 1000000-3999999/3000000"), .contentRange(""), .total(3_000_001), .total(2_999_999),
    .entityTag("\"other\""), .entityTag("W/\"v1-3000000\""), .contentEncoding("gzip"), .contentEncoding("mystery"),
    .multipart, .contentLength(by: 1), .contentLength(by: -1), .partAsWhole,
  ]

  @Test(arguments: visible) func `wrong Content-Range starts again`(deviation: RangeDeviation) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
      behaviour.deviation = deviation
    }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(fixture.ranges == [nil, "bytes=1000000-", nil])
    #expect(file.keptBytes == 0 && file.fetchedBytes == 4_000_000)
    #expect(fixture.names == ["film.bin"])
  }

  @Test(arguments: visible) func `second wrong Content-Range is an error`(deviation: RangeDeviation) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number.isMultiple(of: 2) { behaviour.deviation = deviation } else { behaviour.fault = .cut(after: 1_000_000) }
    }
    try fixture.putOld()
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .resumeMismatch && outcome.error?.stage == .transfer)
    #expect(fixture.isOld)
    #expect(fixture.ranges == [nil, "bytes=1000000-", nil, "bytes=1000000-"])
    fixture.answer()
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
  }

  @Test(arguments: visible) func `wrong range for the next call starts again`(deviation: RangeDeviation) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.deviation = deviation }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(fixture.ranges == [nil, "bytes=1000000-", nil])
  }

  @Test(arguments: [RangeDeviation.entityTag(nil), .total(nil)])
  func `missing detail is not an error`(deviation: RangeDeviation) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.deviation = deviation }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
    #expect(fixture.ranges == [nil, "bytes=1000000-"])
  }

  @Test func `shortened ranges are continued`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.deviation = .shortened(to: 700_000) }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.fetchedBytes == 2_000_000)
    #expect(fixture.ranges.dropFirst() == ["bytes=1000000-", "bytes=1700000-", "bytes=2400000-"])
  }

  @Test(arguments: [1, 100_000]) func `body longer than its range is refused`(count: Int) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    try fixture.putOld()
    fixture.answer { $1.deviation = .overrun(by: count) }
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .resumeMismatch)
    #expect(fixture.isOld)
    fixture.answer()
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes >= 1_000_000)
  }

  @Test func `unrequested range is refused`() async throws {
    let fixture = try DownloadFixture { $1.deviation = .unrequested(0..<1_000) }
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .resumeMismatch)
    #expect(fixture.names == [] && fixture.ranges == [nil])
  }

  @Test func `range with unknown total starts again`() async throws {
    // Neither the first nor the second response states the length of the file, so the second one may be only a part.
    let fixture = try DownloadFixture()
    fixture.answer { number, behaviour in
      behaviour.framing = .chunked
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
      if number == 2 { behaviour.deviation = .total(nil) }
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
  }
}
