import ErrandCore
import Testing

@testable import ErrandTransfer

/// The response to the first range, which shows whether further ranges can be requested in parallel.
struct FirstPieceTests {
  private static func decide(_ status: Int, _ fields: HTTPFields) -> ResumeDecision {
    ResumeDecision.decide(ResponseHead(status: status, fields: fields), to: .first(10), metadata: nil, now: 0)
  }

  @Test func `the first range request has no If-Range`() {
    #expect(RequestedRange.first(10).fields.map(\.value) == ["identity", "bytes=0-9"])
    #expect(RequestedRange.first(0).fields.last?.value == "bytes=0-0")
  }

  @Test(arguments: [10, 4] as [Int64]) func `a valid first range starts the part`(length: Int64) {
    let fields: HTTPFields = ["Content-Range": "bytes 0-\(length - 1)/100", "ETag": "\"v1\""]
    let properties = ResponseProperties(validator: .entityTag("\"v1\""), total: 100, coding: nil)
    #expect(Self.decide(206, fields) == .begin(0..<length, properties))
  }

  @Test(
    arguments: [
      (["Content-Range": "bytes 0-9/100"], .unfit),
      (["Content-Range": "bytes 0-9/100", "ETag": "W/\"v1\""], .unfit),
      (["Content-Range": "bytes 0-9/*", "ETag": "\"v1\""], .unfit),
      (["ETag": "\"v1\""], .contentRangeCount(0)),
      (["Content-Range": "bytes 0-9/100", "content-range": "bytes 0-9/100"], .contentRangeCount(2)),
      (["Content-Range": "bytes */100"], .contentRange("bytes */100")),
      (["Content-Range": "bytes 1-9/100", "ETag": "\"v1\""], .place(expected: 0, found: 1)),
      (["Content-Range": "bytes 0-10/100", "ETag": "\"v1\""], .beyond(expected: 10, found: 11)),
      (["Content-Range": "bytes 0-9/100", "Content-Length": "11", "ETag": "\"v1\""], .length("11")),
      (["Content-Range": "bytes 0-9/100", "Content-Encoding": "gzip", "ETag": "\"v1\""], .coding("gzip")),
      (["Content-Type": "multipart/byteranges; boundary=a", "ETag": "\"v1\""], .multipart),
    ] as [(HTTPFields, ResumeMismatch)])
  func `an invalid first range is rejected`(fields: HTTPFields, mismatch: ResumeMismatch) {
    #expect(Self.decide(206, fields) == .mismatch(mismatch))
  }

  @Test func `other statuses are decided as before`() {
    #expect(Self.decide(200, [:]) == .fresh(ResponseProperties(validator: nil, total: nil, coding: nil)))
    #expect(Self.decide(416, ["Content-Range": "bytes */0"]) == .startOver)
    #expect(Self.decide(404, [:]) == .failDroppingPart)
    #expect(Self.decide(503, [:]) == .failKeepingPart)
  }
}
