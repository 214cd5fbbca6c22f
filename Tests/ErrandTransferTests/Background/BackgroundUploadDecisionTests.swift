import ErrandCore
import ErrandTransfer
import Foundation
import Testing

@testable import ErrandBackground

/// The decisions about background uploads, as tables.
struct BackgroundUploadDecisionTests {
  typealias State = BackgroundSource.State

  private static let status = FileStatus(
    kind: .file, length: 4, links: 1, isOwn: true, identity: FileIdentity(device: 1, number: 7),
    modified: FileTime(seconds: 10, nanoseconds: 5))

  private static func status(_ change: (inout FileStatus) -> Void) -> FileStatus {
    var status = status
    change(&status)
    return status
  }

  @Test(arguments: [
    (FileStatus?.none, State.gone), (status, .unchanged), (status { $0.links = 2 }, .unchanged),
    (status { $0.identity = FileIdentity(device: 2, number: 7) }, .unchanged),
    (status { $0.identity = FileIdentity(device: 1, number: 8) }, .changed), (status { $0.length = 5 }, .changed),
    (status { $0.modified = FileTime(seconds: 10, nanoseconds: 6) }, .changed),
    (status { $0.modified = FileTime(seconds: 11, nanoseconds: 5) }, .changed),
    (status { $0.kind = .link }, .changed), (status { $0.kind = .folder }, .changed),
  ])
  func `a changed upload file is detected`(found: FileStatus?, state: State) {
    #expect(BackgroundSource("/h/film", Self.status, home: "/h").state(now: found) == state)
  }

  @Test(arguments: [(State.unchanged, String?.none), (.gone, nil), (.changed, "bodyChanged")])
  func `a response counts unless the file changed`(state: State, code: String?) {
    #expect(BackgroundUploadDecision.failure(of: state, "“f”")?.code.rawValue == code)
  }

  @Test(arguments: [(State.unchanged, "offline"), (.gone, "bodySource"), (.changed, "bodyChanged")])
  func `a changed file explains the failure`(state: State, code: String) {
    let offline = APIError(.transport, .init(rawValue: "offline"), "There is no network.")
    #expect(BackgroundUploadDecision.failure(offline, by: state, "“f”").code.rawValue == code)
    let cancelled = APIError.backgroundCancelled(.upload)
    #expect(BackgroundUploadDecision.failure(cancelled, by: state, "“f”").code == .cancelled)
  }

  private static let text = HTTPBody(Data("film".utf8))

  private static let asked: [(HTTPMethod, HTTPBody?, Bool, RedirectPolicy, Bool)] = [
    (HTTPMethod.post, text, false, .follow(), true), (.put, text, false, .follow(), true),
    (.get, text, false, .follow(), false), (.post, nil, false, .follow(), false),
    (.post, text, true, .follow(), false), (.post, text, false, .never, false),
    (.post, text.expectingContinue(), false, .follow(), false),
    (.post, .stream(isReplayable: true) { _ in Nothing() }, false, .follow(), true),
    (.post, .stream { _ in Nothing() }, false, .follow(), false),
  ]

  @Test(arguments: asked)
  func `unsupported uploads are rejected`(
    method: HTTPMethod, body: HTTPBody?, hasDownload: Bool, redirects: RedirectPolicy, isTaken: Bool
  ) {
    let request = HTTPRequest(method: method, url: Samples.url, body: body)
    let refusal = BackgroundUploadDecision.refusal(of: request, hasDownload: hasDownload, redirects)
    #expect((refusal == nil) == isTaken)
  }

  private final class Nothing: BodySource {
    func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead { .end }
  }

  @Test func `only validation errors are repeatable`() {
    let stages: [APIError.Stage] = [.validate, .transfer, .transport, .redirect, .cancelled]
    let repeatable = stages.filter { BackgroundUploadDecision.isFromValidation(APIError($0, .file, "It failed.")) }
    #expect(repeatable == [.validate])
  }

  // MARK: - Records

  private static func record(_ phase: BackgroundPhase, source: BackgroundSource? = nil) -> BackgroundUploadState {
    BackgroundUploadState(
      id: "a", tag: "film", source: source, statuses: [[200, 299]], contentTypes: ["text/*"], isSecure: true,
      answerBytes: 8, phase: phase)
  }

  @Test(arguments: [
    BackgroundPhase.running, .missed, .cancelling, .failed(BackgroundDecisionTests.fault),
    .arrived(StoredResponse(ResponseHead(status: 200), Samples.url, to: .upload, bytes: 3)),
  ])
  func `a record survives encoding and decoding`(phase: BackgroundPhase) throws {
    let record = Self.record(phase, source: BackgroundSource("/h/film", Self.status, home: "/h"))
    let bytes = try record.encoded()
    #expect(BackgroundUploadState.read(bytes) == record && BackgroundDownloadState.read(bytes) == nil)
    for length in 0..<bytes.count { #expect(BackgroundUploadState.read(bytes.prefix(length)) == nil) }
    #expect(record.statusRule.accepts(201) && !record.statusRule.accepts(404))
  }

  @Test func `a recorded response keeps Location and ETag`() {
    let fields: HTTPFields = ["ETag": "\"1\"", "Location": "/films/7", "Set-Cookie": "id=s3cret", "X-Token": "s3cret"]
    let head = ResponseHead(status: 201, fields: fields)
    let names = { (kind: BackgroundKind) in
      StoredResponse(head, Samples.url, to: kind, bytes: 3).head.fields.all.map(\.name.rawValue)
    }
    #expect(names(.upload) == ["ETag", "Location"] && names(.download).isEmpty)
  }
}
