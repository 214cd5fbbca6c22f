import ErrandCore
import Testing

@testable import ErrandTransfer

@Suite struct ResumeQuestionTests {
  private static let request = RequestIdentity(method: "GET", url: "http://h/a", variant: "0")
  private static let tag = Validator.entityTag("\"v1\"")
  private static let sum = RecordedChecksum(algorithm: "sha-256", hex: "00")

  private static func record(
    _ request: RequestIdentity = request, committed: Int64 = 40, validator: Validator? = tag, coding: String? = nil,
    checksum: RecordedChecksum? = nil
  ) -> PartRecord? {
    var record = PartRecord(
      request: request, validator: validator, total: 100, coding: coding, checksum: checksum, now: 1)
    record.finished = ByteRanges(first: committed)
    return record
  }

  @Test func `the rest is requested with If-Range`() {
    let question = ResumeQuestion(Self.record(), request: Self.request, checksum: nil)
    #expect(question.ask == .rest(from: 40, Self.tag) && question.obstacle == nil)
    #expect(
      question.ask.fields == [
        HTTPField("Accept-Encoding", "identity"), HTTPField("Range", "bytes=40-"), HTTPField("If-Range", "\"v1\""),
      ])
  }

  @Test func `a complete part is revalidated`() {
    let question = ResumeQuestion(Self.record(committed: 100), request: Self.request, checksum: nil)
    #expect(question.ask == .rest(from: 100, Self.tag))
  }

  @Test(
    arguments: [
      (nil, request, nil, .noRecord), (record(committed: 0), request, nil, .empty),
      (record(validator: nil), request, nil, .noValidator), (record(coding: "gzip"), request, nil, .coded),
      (record(), RequestIdentity(method: "POST", url: "http://h/a", variant: "0"), nil, .method),
      (record(RequestIdentity(method: "POST", url: "http://h/a", variant: "0")), request, nil, .method),
      (record(), RequestIdentity(method: "GET", url: "http://h/b", variant: "0"), nil, .otherURL),
      (record(), RequestIdentity(method: "GET", url: "http://h/a", variant: "1"), nil, .otherRequest),
      (record(checksum: RecordedChecksum(algorithm: "sha-256", hex: "01")), request, sum, .otherChecksum),
    ] as [(PartRecord?, RequestIdentity, RecordedChecksum?, ResumeQuestion.Obstacle)])
  func `any obstacle requests the whole file`(
    record: PartRecord?, request: RequestIdentity, checksum: RecordedChecksum?, obstacle: ResumeQuestion.Obstacle
  ) {
    let question = ResumeQuestion(record, request: request, checksum: checksum)
    #expect(question.ask == .whole && question.obstacle == obstacle)
    #expect(question.ask.fields == [HTTPField("Accept-Encoding", "identity")])
  }

  @Test func `an added or removed checksum allows resuming`() {
    let upper = RecordedChecksum(algorithm: "SHA-256", hex: "00")
    for (old, new) in [(nil, Self.sum), (Self.sum, nil), (Self.sum, upper)] {
      #expect(ResumeQuestion(Self.record(checksum: old), request: Self.request, checksum: new).obstacle == nil)
    }
  }

  @Test func `a resource name resumes a re-signed link`() {
    func link(_ signature: Int, _ resource: String?) -> RequestIdentity {
      RequestIdentity(method: "GET", url: "http://h/a?sig=\(signature)", variant: "0").naming(resource)
    }
    func obstacle(_ old: RequestIdentity, _ new: RequestIdentity) -> ResumeQuestion.Obstacle? {
      ResumeQuestion(Self.record(old), request: new, checksum: nil).obstacle
    }
    #expect(obstacle(link(1, "film 7"), link(2, "film 7")) == nil)
    #expect(obstacle(link(1, "film 7"), link(2, "film 8")) == .otherURL)
    #expect(obstacle(link(1, nil), link(2, nil)) == .otherURL)
  }

  @Test func `the request's own range fields are replaced`() {
    var fields: HTTPFields = ["If-None-Match": "\"x\"", "Accept-Encoding": "br", "Range": "bytes=0-1", "A": "b"]
    RangeAsk.segment(5..<9, Self.tag).apply(to: &fields)
    #expect(
      fields == ["A": "b", "Accept-Encoding": "identity", "Range": "bytes=5-8", "If-Range": "\"v1\""])
  }
}
