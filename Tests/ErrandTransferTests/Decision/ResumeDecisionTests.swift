import ErrandCore
import Testing

@testable import ErrandTransfer

struct ResumeDecisionTests {
  private static let tag = Validator.entityTag("\"v1\"")
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let minuteLater = "Sun, 06 Nov 1994 08:50:37 GMT"

  static func metadata(
    committed: Int64 = 40, total: Int64? = 100, validator: Validator? = tag, coding: String? = nil
  ) -> PartMetadata {
    let request = RequestIdentity(method: "GET", url: "http://h/a", variant: "0")
    var metadata = PartMetadata(
      request: request, validator: validator, total: total, coding: coding, choices: PartMetadataTests.choices, now: 1)
    metadata.finished = ByteRanges(first: committed)
    return metadata
  }

  private static func stored(_ committed: Int64, total: Int64? = 100) -> PartMetadata? {
    metadata(committed: committed, total: total)
  }

  static func decide(
    _ status: Int, _ fields: HTTPFields, requested: RequestedRange = .rest(from: 40, tag),
    metadata: PartMetadata? = metadata()
  ) -> ResumeDecision {
    ResumeDecision.decide(ResponseHead(status: status, fields: fields), to: requested, metadata: metadata, now: 0)
  }

  // MARK: 206

  @Test(
    arguments: [
      ["Content-Range": "bytes 40-99/100"],
      ["Content-Range": "bytes 40-99/100", "ETag": "\"v1\"", "Content-Length": "60"],
      ["Content-Range": "bytes 40-99/*"], ["Content-Range": "bytes 40-99/100", "Content-Encoding": "identity"],
      ["Content-Range": "bytes 40-99/100", "Content-Encoding": "aws-chunked"],
      ["Content-Range": "bytes 40-99/100", "Content-Type": "application/zip"],
      ["Content-Range": "bytes 40-99/100", "Last-Modified": "whatever"],
      ["Content-Range": "bytes 40-99/100", "Content-Length": "60", "content-length": "60"],
    ] as [HTTPFields])
  func `a matching range is appended`(fields: HTTPFields) {
    #expect(Self.decide(206, fields) == .append(40..<100, total: 100))
  }

  @Test func `a shorter range is accepted`() {
    #expect(Self.decide(206, ["Content-Range": "bytes 40-40/100"]) == .append(40..<41, total: 100))
  }

  @Test func `an unknown total is taken from Content-Range`() {
    let metadata = Self.metadata(total: nil)
    #expect(Self.decide(206, ["Content-Range": "bytes 40-49/50"], metadata: metadata) == .append(40..<50, total: 50))
  }

  @Test func `a range without any total is rejected`() {
    let metadata = Self.metadata(total: nil)
    #expect(Self.decide(206, ["Content-Range": "bytes 40-49/*"], metadata: metadata) == .mismatch(.noTotal))
  }

  @Test func `same version with another length is rejected`() {
    let fields: HTTPFields = ["ETag": "\"v1\"", "Content-Length": "60"]
    #expect(Self.decide(200, fields) == .mismatch(.total(expected: 100, found: 60)))
    #expect(Self.decide(200, ["ETag": "\"v1\""]) == .mismatch(.noTotal))
    #expect(
      Self.decide(200, ["ETag": "\"v1\"", "Content-Length": "100"])
        == .fresh(ResponseProperties(validator: Self.tag, total: 100, coding: nil)))
    let segment = RequestedRange.segment(40..<60, Self.tag)
    #expect(Self.decide(200, fields, requested: segment) == .mismatch(.total(expected: 100, found: 60)))
  }

  @Test func `other length is a new version if no old one is known`() {
    let fields: HTTPFields = ["ETag": "\"v1\"", "Content-Length": "60"]
    let fresh = ResumeDecision.fresh(ResponseProperties(validator: Self.tag, total: 60, coding: nil))
    for requested in [RequestedRange.whole, .first(10)] {
      #expect(Self.decide(200, fields, requested: requested) == fresh)
    }
    #expect(Self.decide(200, fields, metadata: Self.metadata(total: nil)) == fresh)
    #expect(Self.decide(200, fields, metadata: Self.metadata(validator: nil)) == fresh)
    #expect(Self.decide(200, fields, metadata: nil) == fresh)
  }

  @Test(
    arguments: [
      ([:], .contentRangeCount(0)),
      (["Content-Range": "bytes 40-99/100", "content-range": "bytes 40-99/100"], .contentRangeCount(2)),
      (["Content-Range": "bytes 40-99"], .contentRange("bytes 40-99")),
      (["Content-Range": "bytes 99-40/100"], .contentRange("bytes 99-40/100")),
      (["Content-Range": "bytes 40-100/100"], .contentRange("bytes 40-100/100")),
      (["Content-Range": "bytes */100"], .contentRange("bytes */100")),
      (["Content-Range": "bytes 0-99/100"], .place(expected: 40, found: 0)),
      (["Content-Range": "bytes 41-99/100"], .place(expected: 40, found: 41)),
      (["Content-Range": "bytes 40-100/101"], .total(expected: 100, found: 101)),
      (["Content-Range": "bytes 40-50/60"], .total(expected: 100, found: 60)),
      (["Content-Range": "bytes 40-100/*"], .beyond(expected: 100, found: 101)),
      (["Content-Range": "bytes 40-99/100", "ETag": "\"v2\""], .version),
      (["Content-Range": "bytes 40-99/100", "ETag": "W/\"v1\""], .version),
      (["Content-Range": "bytes 40-99/100", "ETag": "\"v1\"", "etag": "\"v2\""], .version),
      (["Content-Range": "bytes 40-99/100", "Content-Encoding": "gzip"], .coding("gzip")),
      (["Content-Range": "bytes 40-99/100", "Content-Encoding": "identity, br"], .coding("br")),
      (["Content-Range": "bytes 40-99/100", "Content-Length": "59"], .length("59")),
      (["Content-Range": "bytes 40-99/100", "Content-Length": "60, 60"], .length("60, 60")),
      (
        ["Content-Range": "bytes 40-99/100", "Content-Length": "99999999999999999999"], .length("99999999999999999999")
      ),
      (["Content-Type": "multipart/byteranges; boundary=x"], .multipart),
      (["Content-Range": "bytes 40-99/100", "Content-Type": "Multipart/ByteRanges ;boundary=x"], .multipart),
    ] as [(HTTPFields, ResumeMismatch)])
  func `a contradictory range is rejected`(fields: HTTPFields, mismatch: ResumeMismatch) {
    #expect(Self.decide(206, fields) == .mismatch(mismatch))
    #expect(mismatch.description.hasPrefix("The server's response does not continue where the partial file ends: "))
  }

  @Test func `an unrequested 206 is rejected`() {
    let fields: HTTPFields = ["Content-Range": "bytes 0-99/100"]
    #expect(Self.decide(206, fields, requested: .whole, metadata: nil) == .mismatch(.notAsked))
  }

  @Test func `a changed Last-Modified is another version`() {
    let validator = Validator.lastModified(Self.date)
    let metadata = Self.metadata(validator: validator)
    let same: HTTPFields = ["Content-Range": "bytes 40-99/100", "Last-Modified": Self.date]
    let other: HTTPFields = ["Content-Range": "bytes 40-99/100", "Last-Modified": Self.minuteLater]
    let requested = RequestedRange.rest(from: 40, validator)
    #expect(Self.decide(206, same, requested: requested, metadata: metadata) == .append(40..<100, total: 100))
    #expect(Self.decide(206, other, requested: requested, metadata: metadata) == .mismatch(.version))
  }

  @Test func `a segment must stay in its range`() {
    let requested = RequestedRange.segment(50..<60, Self.tag)
    #expect(
      Self.decide(206, ["Content-Range": "bytes 50-59/100"], requested: requested) == .append(50..<60, total: 100))
    #expect(
      Self.decide(206, ["Content-Range": "bytes 50-54/100"], requested: requested) == .append(50..<55, total: 100))
    let beyond = Self.decide(206, ["Content-Range": "bytes 50-60/100"], requested: requested)
    #expect(beyond == .mismatch(.beyond(expected: 60, found: 61)))
    let before = Self.decide(206, ["Content-Range": "bytes 49-59/100"], requested: requested)
    #expect(before == .mismatch(.place(expected: 50, found: 49)))
  }

  // MARK: 200

  @Test(
    arguments: [
      (["ETag": "\"v2\"", "Content-Length": "7"], .entityTag("\"v2\""), 7, nil),
      (["ETag": "W/\"v2\"", "Content-Length": "7"], nil, 7, nil), ([:], nil, nil, nil),
      (["Last-Modified": date, "Date": minuteLater], .lastModified(date), nil, nil),
      (["Last-Modified": date, "Date": date], nil, nil, nil),
      (["ETag": "\"v2\"", "Content-Length": "7", "Content-Encoding": "gzip"], nil, nil, "gzip"),
      (["ETag": "\"v2\"", "Content-Length": "7", "Content-Encoding": "Identity"], .entityTag("\"v2\""), 7, nil),
      (["ETag": "\"v2\"", "Content-Length": "7", "Content-Encoding": "none, UTF-8"], .entityTag("\"v2\""), 7, nil),
      (["ETag": "\"v2\"", "Content-Length": "7", "Content-Encoding": "aws-chunked,gzip"], nil, nil, "gzip"),
      (["Content-Length": "7", "content-length": "7"], nil, 7, nil),
      (["ETag": "\"v2\"", "Content-Length": "7", "Accept-Ranges": "None"], nil, 7, nil),
      (["ETag": "\"v2\"", "Content-Length": "7", "Accept-Ranges": "bytes"], .entityTag("\"v2\""), 7, nil),
      (["ETag": "\"v2\"", "Content-Length": "7", "Accept-Ranges": "none, bytes"], .entityTag("\"v2\""), 7, nil),
      (["Content-Length": "7", "content-length": "8"], nil, nil, nil), (["Content-Length": "-7"], nil, nil, nil),
      (["Content-Length": "99999999999999999999"], nil, nil, nil),
      (["Content-Length": "7", "Transfer-Encoding": "chunked"], nil, nil, nil),
    ] as [(HTTPFields, Validator?, Int64?, String?)])
  func `a 200 response is a new version`(fields: HTTPFields, validator: Validator?, total: Int64?, coding: String?) {
    let properties = ResponseProperties(validator: validator, total: total, coding: coding)
    for requested in [RequestedRange.whole, .rest(from: 40, Self.tag), .segment(0..<9, Self.tag)] {
      #expect(Self.decide(200, fields, requested: requested) == .fresh(properties))
    }
  }

  @Test func `a 203 response is never resumable`() {
    let properties = ResponseProperties(validator: nil, total: 7, coding: nil)
    #expect(Self.decide(203, ["ETag": "\"v1\"", "Content-Length": "7"]) == .fresh(properties))
  }

  // MARK: 416

  @Test func `416 with the stored length means complete`() {
    let fields: HTTPFields = ["Content-Range": "bytes */100"]
    let requested = RequestedRange.rest(from: 100, Self.tag)
    #expect(Self.decide(416, fields, requested: requested, metadata: Self.metadata(committed: 100)) == .alreadyWhole)
  }

  private static let notTheEnd: [(HTTPFields, PartMetadata?)] = [
    ([:], stored(100)), (["Content-Range": "bytes */101"], stored(100)), (["Content-Range": "bytes */40"], stored(100)),
    (["Content-Range": "bytes 0-99/100"], stored(100)),
    (["Content-Range": "bytes */100", "content-range": "bytes */100"], stored(100)),
    (["Content-Range": "bytes */100"], stored(100, total: nil)), (["Content-Range": "bytes */100"], stored(99)),
    (["Content-Range": "bytes */100"], nil), (["Content-Range": "bytes */100"], stored(100, total: 200)),
    (["Content-Range": "bytes */100", "ETag": "\"v2\""], stored(100)),
  ]

  @Test(arguments: notTheEnd)
  func `other 416 responses start over`(fields: HTTPFields, metadata: PartMetadata?) {
    #expect(Self.decide(416, fields, requested: .rest(from: 100, Self.tag), metadata: metadata) == .startOver)
  }

  @Test func `416 for a segment starts over`() {
    let requested = RequestedRange.segment(50..<60, Self.tag)
    #expect(Self.decide(416, ["Content-Range": "bytes */100"], requested: requested) == .startOver)
  }

  @Test func `416 without a range fails`() {
    #expect(Self.decide(416, [:], requested: .whole, metadata: nil) == .failKeepingPart)
  }

  // MARK: other statuses

  @Test(arguments: [
    201, 202, 204, 205, 207, 226, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 405, 406, 407, 408, 409, 412, 413,
    425,
    429, 451, 500, 501, 502, 503, 504, 599, 100, 0, -1,
  ])
  func `other statuses keep the part`(status: Int) {
    #expect(Self.decide(status, ["Content-Range": "bytes 40-99/100"]) == .failKeepingPart)
  }

  @Test(arguments: [404, 410]) func `404 and 410 drop the part`(status: Int) {
    #expect(Self.decide(status, [:]) == .failDroppingPart)
  }
}
