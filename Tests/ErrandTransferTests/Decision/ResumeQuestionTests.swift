import ErrandCore
import Testing

@testable import ErrandTransfer

struct ResumeQuestionTests {
  private static let request = RequestIdentity(method: "GET", url: "http://h/a", variant: "0")
  private static let tag = Validator.entityTag("\"v1\"")
  private static let sum = RecordedChecksum(algorithm: "sha-256", hex: "00")

  private static func metadata(
    _ request: RequestIdentity = request, committed: Int64 = 40, validator: Validator? = tag, coding: String? = nil,
    checksum: RecordedChecksum? = nil
  ) -> PartMetadata? {
    var metadata = PartMetadata(
      request: request, validator: validator, total: 100, coding: coding, checksum: checksum,
      choices: PartMetadataTests.choices, now: 1)
    metadata.finished = ByteRanges(first: committed)
    return metadata
  }

  @Test func `the rest is requested with If-Range`() {
    let question = ResumeQuestion(Self.metadata(), request: Self.request, checksum: nil)
    #expect(question.requested == .rest(from: 40, Self.tag) && question.obstacle == nil)
    #expect(
      question.requested.fields == [
        HTTPField("Accept-Encoding", "identity"), HTTPField("Range", "bytes=40-"), HTTPField("If-Range", "\"v1\""),
      ])
  }

  @Test func `a complete part is revalidated`() {
    let question = ResumeQuestion(Self.metadata(committed: 100), request: Self.request, checksum: nil)
    #expect(question.requested == .rest(from: 100, Self.tag))
  }

  @Test(
    arguments: [
      (nil, request, nil, .noMetadata), (metadata(committed: 0), request, nil, .empty),
      (metadata(validator: nil), request, nil, .noValidator), (metadata(coding: "gzip"), request, nil, .coded),
      (metadata(), RequestIdentity(method: "POST", url: "http://h/a", variant: "0"), nil, .method),
      (metadata(RequestIdentity(method: "POST", url: "http://h/a", variant: "0")), request, nil, .method),
      (metadata(), RequestIdentity(method: "GET", url: "http://h/b", variant: "0"), nil, .otherURL),
      (metadata(), RequestIdentity(method: "GET", url: "http://h/a", variant: "1"), nil, .otherRequest),
      (metadata(checksum: RecordedChecksum(algorithm: "sha-256", hex: "01")), request, sum, .otherChecksum),
    ] as [(PartMetadata?, RequestIdentity, RecordedChecksum?, ResumeQuestion.Obstacle)])
  func `any obstacle requests the whole file`(
    metadata: PartMetadata?, request: RequestIdentity, checksum: RecordedChecksum?, obstacle: ResumeQuestion.Obstacle
  ) {
    let question = ResumeQuestion(metadata, request: request, checksum: checksum)
    #expect(question.requested == .whole && question.obstacle == obstacle)
    #expect(question.requested.fields == [HTTPField("Accept-Encoding", "identity")])
  }

  @Test func `an added or removed checksum allows resuming`() {
    let upper = RecordedChecksum(algorithm: "SHA-256", hex: "00")
    for (old, new) in [(nil, Self.sum), (Self.sum, nil), (Self.sum, upper)] {
      #expect(ResumeQuestion(Self.metadata(checksum: old), request: Self.request, checksum: new).obstacle == nil)
    }
  }

  @Test func `a resource name resumes a re-signed link`() {
    func link(_ signature: Int, _ resource: String?) -> RequestIdentity {
      RequestIdentity(method: "GET", url: "http://h/a?sig=\(signature)", variant: "0").naming(resource)
    }
    func obstacle(_ old: RequestIdentity, _ new: RequestIdentity) -> ResumeQuestion.Obstacle? {
      ResumeQuestion(Self.metadata(old), request: new, checksum: nil).obstacle
    }
    #expect(obstacle(link(1, "film 7"), link(2, "film 7")) == nil)
    #expect(obstacle(link(1, "film 7"), link(2, "film 8")) == .otherURL)
    #expect(obstacle(link(1, nil), link(2, nil)) == .otherURL)
  }

  @Test func `resource names are compared by bytes`() {
    let (old, new) = (Self.request.naming("caf\u{e9}"), Self.request.naming("cafe\u{301}"))
    let question = ResumeQuestion(Self.metadata(old), request: new, checksum: nil)
    #expect(question.requested == .whole && question.obstacle == .otherURL)
  }

  @Test func `the request's own range fields are replaced`() {
    var fields: HTTPFields = ["If-None-Match": "\"x\"", "Accept-Encoding": "br", "Range": "bytes=0-1", "A": "b"]
    RequestedRange.segment(5..<9, Self.tag).apply(to: &fields)
    #expect(
      fields == ["A": "b", "Accept-Encoding": "identity", "Range": "bytes=5-8", "If-Range": "\"v1\""])
  }
}
