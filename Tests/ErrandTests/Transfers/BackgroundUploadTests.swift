import Dispatch
import Errand
import ErrandBackground
import ErrandHTTP
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// Uploads that are handed to the system, in one process of the app.
struct BackgroundUploadTests {
  private static let created = ScriptedAnswer(
    status: 201, fields: ["Content-Type": "application/json", "Location": "/films/7", "Set-Cookie": "id=s3cret"],
    body: Data("{\"id\":7}".utf8))

  @Test func `response is decoded by its request`() async throws {
    let fixture = try BackgroundFixture()
    let uploads = fixture.launchUploads()
    let film = try fixture.put("film", "film.bin")
    let request = SendFilm(body: .file(film))
    let upload = try await uploads.start(request, tag: "film-7")
    let order = try #require(fixture.session.orders.first)
    #expect(order.name == upload.id && order.request.method == .post)
    #expect(order.request.url.string == "https://h.example/films" && fixture.transport.requests.isEmpty)
    #expect(order.request.body?.filePath == film.path && fixture.desked == ["\(upload.id).upload"])
    #expect(await uploads.running.map(\.id) == [upload.id])

    try fixture.session.answer(upload.id, Self.created)
    #expect(try await upload.value(for: request) == .init(id: 7))
    let answer = try await upload.response()
    #expect(answer.status == 201 && answer.fields["Location"] == "/films/7" && answer.fields["Set-Cookie"] == nil)
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.id == upload.id && ending.tag == "film-7")
    #expect(try await ending.value(for: SendFilm()) == .init(id: 7))
    fixture.session.report(.allReported)
    await uploads.eventsHandled()
    #expect(fixture.desked.isEmpty && fixture.text("film.bin") == "film")
    #expect(await uploads.running.isEmpty)
  }

  @Test func `handing over does not affect the breaker`() async throws {
    let fixture = try BackgroundFixture { configuration in
      var rule = BreakerRule()
      (rule.least, rule.window, rule.trials) = (1, 1, 1)
      configuration.servers.breaker = rule
      configuration.retries = .standard
    }
    // The transport fails, so the circuit opens.
    #expect(await fixture.client.outcome(of: SendFilm()).error != nil)
    #expect(await fixture.client.outcome(of: SendFilm()).error?.code == .circuitOpen)
    let uploads = fixture.launchUploads()
    let upload = try await uploads.start(SendFilm(body: .text("a film")))
    #expect(fixture.session.orders.map(\.name) == [upload.id])
    #expect(await fixture.client.outcome(of: SendFilm()).error?.code == .circuitOpen)
  }

  // MARK: - The body

  private static let bodies: [(RequestBody, String?)] = [
    (.text("a film"), "a film"), (.bytes(Data()), ""), (.json(["a": 1]), "{\"a\":1}"), (.form(["a": "b"]), "a=b"),
    (.stream(isReplayable: true) { Waiting("a film", $0) }, "a film"),
  ]

  @Test(arguments: bodies.indices) func `body is written to a private file`(index: Int) async throws {
    let (body, text) = Self.bodies[index]
    let fixture = try BackgroundFixture()
    let uploads = fixture.launchUploads()
    let upload = try await uploads.start(SendFilm(body: body))
    #expect(fixture.desked == ["\(upload.id).body", "\(upload.id).upload"])
    #expect(fixture.mode("desk/\(upload.id).body") == 0o600 && fixture.mode() == 0o700)
    let sent = try #require(try fixture.session.body(of: upload.id))
    #expect(String(decoding: sent, as: UTF8.self) == text)
    try fixture.session.answer(upload.id, .json("{\"id\":1}"))
    #expect(try await upload.value(for: SendFilm()).id == 1)
    fixture.session.report(.allReported)
    await uploads.eventsHandled()
    #expect(fixture.desked.isEmpty)
  }

  /// A body source that has no data at first.
  private final class Waiting: BodySource {
    private var rest: [UInt8]
    private var hasWaited = false
    private let flow: BodyFlow

    init(_ text: String, _ flow: BodyFlow) {
      rest = Array(text.utf8)
      self.flow = flow
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
      guard hasWaited else {
        hasWaited = true
        flow.resume()
        return .later
      }
      guard !rest.isEmpty, let first = room.indices.first else { return .end }
      room[first] = rest.removeFirst()
      return .bytes(1)
    }
  }

  @Test func `form with files is written completely`() async throws {
    let fixture = try BackgroundFixture { $0.transport = .own(PlainTransport()) }
    let form: Multipart = [.text("title", "Cats"), .file("film", try fixture.put("meow", "cats.mp4"))]
    let upload = try await fixture.launchUploads().start(SendFilm(body: .multipart(form)))
    let sent = String(decoding: try #require(try fixture.session.body(of: upload.id)), as: UTF8.self)
    let type = try #require(fixture.session.orders.first?.request.fields[.contentType])
    let boundary = try #require(type.split(separator: "boundary=").last)
    #expect(sent.hasPrefix("--\(boundary)\r\n") && sent.hasSuffix("--\(boundary)--\r\n"))
    #expect(sent.contains("Cats") && sent.contains("meow"))
  }

  /// A transport that accepts only bodies in memory, as URLSession does.
  private struct PlainTransport: Transport {
    var capabilities: TransportCapabilities { [] }
    func send(_ exchange: Exchange) async throws -> HTTPResponse { throw TransportFailure(.other, "Nothing is sent.") }
  }

  @Test func `range of a file is uploaded`() async throws {
    let fixture = try BackgroundFixture()
    let part = try HTTPBody.file(try fixture.put("a film", "film.bin"), range: 2..<6)
    let upload = try await fixture.launchUploads().start(SendFilm(body: .body(part)))
    #expect(try fixture.session.body(of: upload.id) == Data("film".utf8))
  }

  @Test func `copied file may change`() async throws {
    let fixture = try BackgroundFixture()
    let film = try fixture.put("film", "film.bin")
    let upload = try await fixture.launchUploads().start(SendFilm(body: .file(film)), copiesFile: true)
    _ = try fixture.put("another film", "film.bin")
    #expect(try fixture.session.body(of: upload.id) == Data("film".utf8))
    try fixture.session.answer(upload.id, Self.created)
    #expect(try await upload.value(for: SendFilm()).id == 7)
  }

  @Test func `symbolic link to a file is copied`() async throws {
    let fixture = try BackgroundFixture()
    let film = try fixture.put("film", "film.bin")
    let link = fixture.place("link.bin")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: film)
    let upload = try await fixture.launchUploads().start(SendFilm(body: .file(link)))
    #expect(fixture.desked.contains("\(upload.id).body"))
    #expect(try fixture.session.body(of: upload.id) == Data("film".utf8))
  }

  @Test func `credential is sent but not stored`() async throws {
    let fixture = try BackgroundFixture { $0.credentials = FixedCredential(.bearer("s3cret"), account: "ada") }
    let request = SendFilm(path: "/films?signature=s1gned", headers: ["X-Key": "k3y"], body: .text("a film"))
    _ = try await fixture.launchUploads().start(request)
    let sent = try #require(fixture.session.orders.first?.request)
    #expect(sent.url.string == "https://h.example/films?signature=s1gned")
    #expect(sent.fields[.authorization] == "Bearer s3cret" && sent.fields["X-Key"] == "k3y")
    let written = fixture.written
    #expect(written.contains("a film"))
    for secret in ["s3cret", "s1gned", "k3y", "h.example"] { #expect(!written.contains(secret), "\(secret)") }
  }

  private struct Broken: Error {}

  private final class BrokenSource: BodySource {
    func read(into room: UnsafeMutableRawBufferPointer) throws -> BodyRead { throw Broken() }
  }

  @Test func `failing source leaves no file`() async throws {
    let fixture = try BackgroundFixture()
    let uploads = fixture.launchUploads()
    let body = RequestBody.stream(isReplayable: true) { _ in BrokenSource() }
    let error = await #expect(throws: APIError.self) { try await uploads.start(SendFilm(body: body)) }
    #expect(error?.code.rawValue == "bodySource" && error?.cause is Broken)
    #expect(fixture.session.orders.isEmpty && fixture.desked.isEmpty)
  }

  /// A body source that never has data.
  private final class EmptySource: BodySource {
    private let asked: Latch
    init(_ asked: Latch) { self.asked = asked }
    func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
      asked.open()
      return .later
    }
  }

  @Test func `cancel ends writing the body`() async throws {
    let fixture = try BackgroundFixture()
    let uploads = fixture.launchUploads()
    let asked = Latch()
    let body = RequestBody.stream(isReplayable: true) { _ in EmptySource(asked) }
    let start = Task { () async -> APIError? in
      do throws(APIError) {
        _ = try await uploads.start(SendFilm(body: body))
        return nil
      } catch {
        return error
      }
    }
    try await asked.wait()
    start.cancel()
    #expect(await start.value?.stage == .cancelled)
    #expect(fixture.session.orders.isEmpty && fixture.desked.isEmpty)
  }

  @Test func `slow disk blocks no pool thread`() async throws {
    let fixture = try BackgroundFixture()
    let count = ProcessInfo.processInfo.activeProcessorCount + 1
    let (writing, gate) = (Recorded<Int>(), DispatchSemaphore(value: 0))
    // Each write waits for all others, which would block a cooperative thread pool.
    let files = HookedFiles { turn, operation, bytes in
      guard operation == .write, bytes == 4 else { return nil }
      writing.append(turn)
      if writing.all.count == count { for _ in 1...count { gate.signal() } }
      return gate.wait(timeout: .now() + 30) == .success ? nil : 5
    }
    let uploads = fixture.launchUploads(files: files)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...count { group.addTask { _ = try await uploads.start(SendFilm(body: .text("film"))) } }
      try await group.waitForAll()
    }
    #expect(fixture.session.orders.count == count)
  }

  // MARK: - Refused uploads

  @Test func `unsupported options are refused`() async throws {
    let fixture = try BackgroundFixture()
    let uploads = fixture.launchUploads()
    let once = RequestBody.stream { _ in BrokenSource() }
    let odd = [
      (SendFilm(), "has no body; "), (SendFilm(method: .get, body: .text("x")), "is a GET; "),
      (SendFilm(body: .text("x"), redirects: .never), "follows no redirects, "),
      (SendFilm(body: .text("x").expectingContinue()), "waits for 100 Continue; "),
      (SendFilm(body: once), "has a body that can be read only once; "),
    ]
    for (request, words) in odd {
      let error = await #expect(throws: APIError.self) { try await uploads.start(request) }
      #expect(error?.stage == .build && error?.code == .unsupported)
      let begin = "The request cannot become a background upload: the request \(words)"
      #expect(error?.message.hasPrefix(begin) == true, "\(words)")
    }
    #expect(fixture.session.orders.isEmpty && fixture.desked.isEmpty)
  }

  @Test(arguments: [true, false]) func `rejected order throws immediately`(isFile: Bool) async throws {
    let fixture = try BackgroundFixture()
    fixture.session.refuse(TransportFailure(.unsupported, "no"))
    let body: RequestBody = isFile ? .file(try fixture.put("film", "film.bin")) : .text("film")
    let uploads = fixture.launchUploads()
    let error = await #expect(throws: APIError.self) { try await uploads.start(SendFilm(body: body)) }
    #expect(error?.stage == .transport && fixture.desked.isEmpty)
  }

  @Test func `missing file throws immediately`() async throws {
    let fixture = try BackgroundFixture()
    let request = SendFilm(body: .file(fixture.place("none.bin")))
    let uploads = fixture.launchUploads()
    let error = await #expect(throws: APIError.self) { try await uploads.start(request) }
    #expect(error?.stage == .build && error?.code == .invalidBody && fixture.desked.isEmpty)
  }

  // MARK: - The ending

  @Test func `error status brings its body`() async throws {
    let fixture = try BackgroundFixture()
    let uploads = fixture.launchUploads()
    let upload = try await uploads.start(SendFilm(body: .text("film")))
    try fixture.session.answer(upload.id, .json("{\"reason\":\"too long\"}", status: 422))
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.result.failure?.code == .status && ending.result.failure?.response?.status == 422)
    let error = await #expect(throws: APIError.self) { try await ending.value(for: SendFilm()) }
    #expect(error?.code == .status && error?.body(as: SendFilm.ErrorBody.self) == .init(reason: "too long"))
    fixture.session.report(.allReported)
    await uploads.eventsHandled()
    #expect(fixture.desked.isEmpty)
  }

  @Test(arguments: [
    (ScriptedAnswer.json("{\"id\":12345}"), APIError.Code?.some(.init(rawValue: "tooLarge"))),
    (.json("{\"id\":1}"), nil), (.text("{\"id\":1}"), .contentType),
    (.failure(.offline), .init(rawValue: "offline")),
    (
      ScriptedAnswer(
        fields: ["Content-Type": "application/json", "Content-Length": "9"], body: Data("{\"id\":1}".utf8)),
      .interrupted
    ),
  ])
  func `received response is validated`(answer: ScriptedAnswer, code: APIError.Code?) async throws {
    let fixture = try BackgroundFixture { $0.limits.bodyBytes = 10 }
    let request = SendFilm(body: .text("film"), contentTypes: ["application/json"])
    let upload = try await fixture.launchUploads().start(request)
    try fixture.session.answer(upload.id, answer)
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.result.failure?.code == code)
  }

  @Test func `redirect from https to http is refused`() async throws {
    let fixture = try BackgroundFixture()
    let upload = try await fixture.launchUploads().start(SendFilm(body: .text("film")))
    try fixture.session.answer(upload.id, Self.created, from: HTTPURL("http://elsewhere.example/films"))
    #expect(await fixture.nextUpload()?.result.failure?.code == .redirectRefused)
  }

  @Test func `business error needs the request`() async throws {
    let fixture = try BackgroundFixture()
    let request = SendFilm(body: .text("film"), envelope: Envelope(value: "data", code: "code"))
    let upload = try await fixture.launchUploads().start(request)
    try fixture.session.answer(upload.id, .json("{\"code\":3,\"data\":{\"id\":1}}"))
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.result.failure == nil)
    let error = await #expect(throws: APIError.self) { try await ending.value(for: request) }
    #expect(error?.code == .business && error?.businessCode == "3")
    let other = await #expect(throws: APIError.self) { try await ending.value(for: SendFilm()) }
    #expect(other?.stage == .decode)
  }

  enum Fate: Sendable { case stays, changes, goes }

  @Test(arguments: [
    (Fate.stays, true, String?.none), (.changes, true, "bodyChanged"), (.goes, true, nil),
    (.stays, false, "offline"), (.changes, false, "bodyChanged"), (.goes, false, "bodySource"),
  ])
  func `changed file fails the upload`(fate: Fate, isAnswered: Bool, code: String?) async throws {
    let fixture = try BackgroundFixture()
    let film = try fixture.put("film", "film.bin")
    let upload = try await fixture.launchUploads().start(SendFilm(body: .file(film)))
    switch fate {
    case .stays: break
    case .changes: _ = try fixture.put("longer film", "film.bin")
    case .goes: try FileManager.default.removeItem(at: film)
    }
    try fixture.session.answer(upload.id, isAnswered ? Self.created : .failure(.offline))
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.result.failure?.code.rawValue == code)
    #expect(ending.result.failure == nil || (ending.result.failure?.response != nil) == isAnswered)
  }

  @Test func `cancel ends the upload`() async throws {
    let fixture = try BackgroundFixture()
    let upload = try await fixture.launchUploads().start(SendFilm(body: .text("film")))
    upload.cancel()
    let error = await #expect(throws: APIError.self) { try await upload.response() }
    #expect(error?.stage == .cancelled && error?.message == "The upload was cancelled.")
    #expect(await fixture.nextUpload()?.result.failure?.stage == .cancelled)
    #expect(fixture.session.running.isEmpty)
  }

  @Test func `system cancel differs from the app's`() async throws {
    let fixture = try BackgroundFixture()
    let upload = try await fixture.launchUploads().start(SendFilm(body: .text("film")))
    fixture.session.end(upload.id, .cancelled("the user closed the app"))
    let error = await #expect(throws: APIError.self) { try await upload.value(for: SendFilm()) }
    #expect(error?.stage == .transfer && error?.code == .interrupted)
    #expect(
      error?.message == "The upload did not end: the user closed the app. The server may have received the body "
        + "anyway; ask the server before you start the upload again.")
  }

  @Test func `progress counts the body`() async throws {
    let fixture = try BackgroundFixture()
    let upload = try await fixture.launchUploads().start(SendFilm(body: .text("film")))
    fixture.session.report(.progress(name: upload.id, bytes: 2, total: 4))
    fixture.session.end(upload.id, .failed(TransportFailure(.offline, "offline")))
    var reports: [TransferProgress] = []
    for await report in upload.progress { reports.append(report) }
    #expect(reports == [TransferProgress(.upload, bytes: 2, total: 4)])
  }

  @Test func `each start is a separate upload`() async throws {
    let fixture = try BackgroundFixture()
    let uploads = fixture.launchUploads()
    let first = try await uploads.start(SendFilm(body: .text("film")), tag: "film")
    let second = try await uploads.start(SendFilm(body: .text("film")), tag: "film")
    #expect(first.id != second.id && fixture.session.orders.count == 2)
    #expect(await uploads.running.map(\.tag) == ["film", "film"])
  }
}
