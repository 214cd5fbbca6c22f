import Errand
import ErrandTesting
import Foundation
import Testing

/// Servers that answer a range with something else than they say: never a wrong file.
@Suite(.timeLimit(.minutes(3))) struct RangeLieTests {
  /// What is noticed by the head alone.
  static let visible: [RangeLie] = [
    .movedPart(by: 5), .movedPart(by: -5), .noContentRange, .twoContentRanges, .contentRange("bytes 1000000-2999999"),
    .contentRange("items 1000000-2999999/3000000"), .contentRange("bytes */3000000"),
    .contentRange("bytes 1000000-999999/3000000"), .contentRange("bytes 1000000-2999999/2999999"),
    .contentRange("bytes 1000000-3999999/3000000"), .contentRange(""), .total(3_000_001), .total(2_999_999),
    .entityTag("\"other\""), .entityTag("W/\"v1-3000000\""), .contentEncoding("gzip"), .contentEncoding("mystery"),
    .multipart, .contentLength(by: 1), .contentLength(by: -1), .partAsWhole,
  ]

  @Test(arguments: visible) func `visible lie starts over`(lie: RangeLie) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
      behaviour.lie = lie
    }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(fixture.ranges == [nil, "bytes=1000000-", nil])
    #expect(file.keptBytes == 0 && file.fetchedBytes == 4_000_000)
    #expect(fixture.names == ["film.bin"])
  }

  @Test(arguments: visible) func `second lie is an error`(lie: RangeLie) async throws {
    let fixture = try DownloadFixture { number, behaviour in
      if number.isMultiple(of: 2) { behaviour.lie = lie } else { behaviour.fault = .cut(after: 1_000_000) }
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

  @Test(arguments: visible) func `lie to the next call`(lie: RangeLie) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.lie = lie }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
    #expect(fixture.ranges == [nil, "bytes=1000000-", nil])
  }

  @Test(arguments: [RangeLie.entityTag(nil), .total(nil)])
  func `silence is no lie`(lie: RangeLie) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.lie = lie }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes == 1_000_000)
    #expect(fixture.ranges == [nil, "bytes=1000000-"])
  }

  @Test func `short ranges are gone on with`() async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    fixture.answer { $1.lie = .shortened(to: 700_000) }
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.fetchedBytes == 2_000_000)
    #expect(fixture.ranges.dropFirst() == ["bytes=1000000-", "bytes=1700000-", "bytes=2400000-"])
  }

  @Test(arguments: [1, 100_000]) func `more than promised is refused`(count: Int) async throws {
    let fixture = try DownloadFixture()
    await fixture.begin()
    try fixture.putOld()
    fixture.answer { $1.lie = .overrun(by: count) }
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .resumeMismatch)
    #expect(fixture.isOld)
    fixture.answer()
    let file = try await fixture.send().result.get()
    #expect(fixture.isRight() && file.keptBytes >= 1_000_000)
  }

  @Test func `unasked part is refused`() async throws {
    let fixture = try DownloadFixture { $1.lie = .unasked(0..<1_000) }
    let outcome = await fixture.send()
    #expect(outcome.error?.code == .resumeMismatch)
    #expect(fixture.names == [] && fixture.ranges == [nil])
  }

  @Test func `unknown total is not believed`() async throws {
    // The first answer does not say how long the file is, and the second one neither: it may be a piece.
    let fixture = try DownloadFixture()
    fixture.answer { number, behaviour in
      behaviour.framing = .chunked
      if number == 1 { behaviour.fault = .cut(after: 1_000_000) }
      if number == 2 { behaviour.lie = .total(nil) }
    }
    _ = try await fixture.send().result.get()
    #expect(fixture.isRight())
  }
}
