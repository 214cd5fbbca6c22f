import Errand
import ErrandBackground
import ErrandCache
import ErrandChecksum
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// Downloads that are handed to the system, in one process of the app.
struct BackgroundDownloadTests {
  private static let sum = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"  // of "foo"

  @Test func `file gets its name at the end`() async throws {
    let fixture = try BackgroundFixture()
    let downloads = fixture.launch()
    let request = try fixture.request { $0.checksum = try .sha256(Self.sum) }
    let download = try await downloads.start(request, tag: "film")
    #expect(fixture.session.orders.map(\.name) == [download.id] && fixture.transport.requests.isEmpty)
    #expect(fixture.desked == ["\(download.id).download"] && fixture.text("film.bin") == nil)
    #expect(await downloads.running.map(\.id) == [download.id])

    try fixture.session.answer(download.id, .text("foo"))
    let file = try await download.value()
    #expect(file.bytes == 3 && file.checkedBy == ["sha-256"] && file.url.path == fixture.place("film.bin").path)
    let ending = try #require(await fixture.next())
    #expect(ending.id == download.id && ending.tag == "film" && (try? ending.result.get()) == file)
    #expect(fixture.text("film.bin") == "foo")
    #expect(await downloads.running.isEmpty)
  }

  @Test func `credential is sent but not stored`() async throws {
    let fixture = try BackgroundFixture { $0.credentials = FixedCredential(.bearer("s3cret"), account: "ada") }
    var request = try fixture.request("/film?signature=s1gned")
    request.headers = ["X-Key": "k3y"]
    _ = try await fixture.launch().start(request)
    let sent = try #require(fixture.session.orders.first?.request)
    #expect(sent.url.string == "https://h.example/film?signature=s1gned")
    #expect(sent.fields[.authorization] == "Bearer s3cret" && sent.fields["X-Key"] == "k3y")
    #expect(sent.fields[.acceptEncoding] == "identity")
    let written = fixture.written
    #expect(written.contains("film.bin"))
    for secret in ["s3cret", "s1gned", "k3y", "h.example"] { #expect(!written.contains(secret), "\(secret)") }
  }

  @Test func `unknown transfer cannot be answered`() async throws {
    let fixture = try BackgroundFixture()
    let download = try await fixture.launch().start(fixture.request())
    let error = #expect(throws: ScriptedBackgroundSession.UnknownTransfer.self) {
      try fixture.session.answer("film", .text("foo"))
    }
    #expect(error?.description == "No transfer “film” was started. Started transfers: \(download.id).")
  }

  @Test func `error status brings body and no file`() async throws {
    let fixture = try BackgroundFixture()
    let downloads = fixture.launch()
    let download = try await downloads.start(fixture.request())
    try fixture.session.answer(download.id, .text("no such film", status: 404))
    let error = await #expect(throws: APIError.self) { try await download.value() }
    #expect(error?.code == .status && error?.status == 404)
    #expect(error?.response.map { String(decoding: $0.body, as: UTF8.self) } == "no such film")
    _ = await fixture.next()
    fixture.session.report(.allReported)
    await downloads.eventsHandled()
    #expect(fixture.text("film.bin") == nil && fixture.desked.isEmpty)
  }

  @Test(arguments: [
    (ScriptedAnswer(fields: ["Content-Length": "4"], body: Data("foo".utf8)), APIError.Code.interrupted),
    (ScriptedAnswer(body: Data("bar".utf8)), .checksumMismatch),
    (ScriptedAnswer(fields: ["Repr-Digest": "sha-512=:AAAA:"], body: Data("foo".utf8)), nil),
    (ScriptedAnswer(status: 206, fields: ["Content-Range": "bytes 1-2/3"], body: Data("foo".utf8)), nil),
    (ScriptedAnswer(status: 206, fields: ["Content-Range": "bytes 1-2/9"], body: Data("foo".utf8)), .interrupted),
    (ScriptedAnswer(fields: ["Content-Length": "2", "Content-Encoding": "gzip"], body: Data("foo".utf8)), nil),
    (ScriptedAnswer.failure(.offline), APIError.Code(rawValue: "offline")),
    (ScriptedAnswer.text("fo").breakingOff(.truncated), APIError.Code(rawValue: "truncated")),
  ])
  func `received file is validated`(answer: ScriptedAnswer, code: APIError.Code?) async throws {
    let fixture = try BackgroundFixture()
    try Data("old".utf8).write(to: fixture.place("film.bin"))
    let request = try fixture.request {
      $0.checksum = try .sha256(Self.sum)
      $0.digests = .standard
    }
    let download = try await fixture.launch().start(request)
    try fixture.session.answer(download.id, answer)
    let ending = try #require(await fixture.next())
    switch ending.result {
    case .success: #expect(code == nil && fixture.text("film.bin") == "foo")
    case .failure(let error): #expect(error.code == code && fixture.text("film.bin") == "old", "\(error)")
    }
  }

  @Test func `server's digest is verified`() async throws {
    let fixture = try BackgroundFixture()
    let download = try await fixture.launch().start(fixture.request { $0.digests = .standard })
    let digest = Data(repeating: 7, count: 32).base64EncodedString()
    let answer = ScriptedAnswer(fields: ["Repr-Digest": "sha-256=:\(digest):"], body: Data("foo".utf8))
    try fixture.session.answer(download.id, answer)
    #expect(await fixture.next()?.result.failure?.code == .checksumMismatch)
  }

  @Test func `redirect from https to http is refused`() async throws {
    let fixture = try BackgroundFixture()
    let download = try await fixture.launch().start(fixture.request())
    try fixture.session.answer(download.id, .text("foo"), from: HTTPURL("http://elsewhere.example/film"))
    #expect(await fixture.next()?.result.failure?.code == .redirectRefused)
    #expect(fixture.text("film.bin") == nil)
  }

  @Test func `existing file may be kept`() async throws {
    let fixture = try BackgroundFixture()
    let downloads = fixture.launch()
    let request = fixture.request { $0.replaces = false }
    let download = try await downloads.start(request)
    try Data("old".utf8).write(to: fixture.place("film.bin"))
    try fixture.session.answer(download.id, .text("foo"))
    #expect(await fixture.next()?.result.failure?.code == .fileExists)
    let error = await #expect(throws: APIError.self) { try await downloads.start(request) }
    #expect(error?.code == .fileExists && fixture.text("film.bin") == "old")
  }

  @Test func `folder at the target is refused at once`() async throws {
    let fixture = try BackgroundFixture()
    try FileManager.default.createDirectory(at: fixture.place("film.bin"), withIntermediateDirectories: false)
    let downloads = fixture.launch()
    let error = await #expect(throws: APIError.self) { try await downloads.start(fixture.request()) }
    #expect(error?.code == .fileExists && error?.message.contains("use `Download.into`") == true)
    #expect(fixture.session.orders.isEmpty && fixture.desked.isEmpty)
  }

  @Test func `server may name the file`() async throws {
    let fixture = try BackgroundFixture()
    let request = FileDownload("/film", .into(fixture.folder, named: .fromServer))
    let download = try await fixture.launch().start(request)
    let fields: HTTPFields = ["Content-Disposition": "attachment; filename=\"../nice.bin\""]
    try fixture.session.answer(download.id, ScriptedAnswer(fields: fields, body: Data("foo".utf8)))
    #expect(try await download.value().url.lastPathComponent == "nice.bin")
    #expect(fixture.text("nice.bin") == "foo" && fixture.text("film") == nil)
  }

  @Test func `server's name keeps an existing file`() async throws {
    let fixture = try BackgroundFixture()
    let request = FileDownload("/film", .into(fixture.folder, named: .fromServer))
    let download = try await fixture.launch().start(request)
    try Data("old".utf8).write(to: fixture.place("nice.bin"))
    let fields: HTTPFields = ["Content-Disposition": "attachment; filename=nice.bin"]
    try fixture.session.answer(download.id, ScriptedAnswer(fields: fields, body: Data("foo".utf8)))
    let error = await #expect(throws: APIError.self) { try await download.value() }
    #expect(error?.code == .fileExists && fixture.text("nice.bin") == "old")
  }

  @Test func `equal download is joined`() async throws {
    let fixture = try BackgroundFixture()
    let downloads = fixture.launch()
    let first = try await downloads.start(fixture.request(), tag: "first")
    let second = try await downloads.start(fixture.request(), tag: "second")
    #expect(first === second && fixture.session.orders.count == 1)
    let error = await #expect(throws: APIError.self) { try await downloads.start(fixture.request("/other")) }
    #expect(error?.code == .busy)
    _ = try await downloads.start(fixture.request("/other", "other.bin"))
    #expect(fixture.session.orders.count == 2)
  }

  @Test func `re-signed download is identified by resource`() async throws {
    let fixture = try BackgroundFixture()
    let downloads = fixture.launch()
    let first = try await downloads.start(fixture.request("/film?signature=1") { $0.resource = "film" })
    let second = try await downloads.start(fixture.request("/film?signature=2") { $0.resource = "film" })
    #expect(first === second)
  }

  @Test func `cancel ends the download`() async throws {
    let fixture = try BackgroundFixture()
    let downloads = fixture.launch()
    let download = try await downloads.start(fixture.request())
    download.cancel()
    let error = await #expect(throws: APIError.self) { try await download.value() }
    #expect(error?.stage == .cancelled)
    #expect(await fixture.next()?.result.failure?.stage == .cancelled)
    #expect(fixture.session.running.isEmpty)
  }

  @Test func `system cancel differs from the app's`() async throws {
    let fixture = try BackgroundFixture()
    let download = try await fixture.launch().start(fixture.request())
    fixture.session.end(download.id, .cancelled("the user closed the app"))
    let error = await #expect(throws: APIError.self) { try await download.value() }
    #expect(error?.stage == .transfer && error?.code == .interrupted)
    #expect(error?.message == "The download did not end: the user closed the app. Start the download again.")
  }

  @Test func `progress is reported`() async throws {
    let fixture = try BackgroundFixture()
    let download = try await fixture.launch().start(fixture.request())
    fixture.session.report(.progress(name: download.id, bytes: 2, total: 8))
    fixture.session.end(download.id, .failed(TransportFailure(.offline, "offline")))
    var reports: [TransferProgress] = []
    for await report in download.progress { reports.append(report) }
    #expect(reports == [TransferProgress(.download, bytes: 2, total: 8)])
  }

  @Test func `restarted count is marked`() async throws {
    let fixture = try BackgroundFixture()
    let download = try await fixture.launch().start(fixture.request())
    fixture.session.report(.progress(name: download.id, bytes: 5, total: 8))
    fixture.session.report(.progress(name: download.id, bytes: 2, total: 8))
    var reports = download.progress.makeAsyncIterator()
    #expect(await reports.next() == TransferProgress(.download, bytes: 2, total: 8, isRestart: true))
  }

  @Test func `waiting task may be cancelled`() async throws {
    let fixture = try BackgroundFixture()
    let download = try await fixture.launch().start(fixture.request())
    let waiter = Task { () async -> APIError? in
      do throws(APIError) {
        _ = try await download.value()
        return nil
      } catch {
        return error
      }
    }
    waiter.cancel()
    #expect(await waiter.value?.stage == .cancelled)
    try fixture.session.answer(download.id, .text("foo"))
    #expect(try await download.value().bytes == 3)
  }

  @Test func `rejected order throws immediately`() async throws {
    let fixture = try BackgroundFixture()
    fixture.session.refuse(TransportFailure(.unsupported, "no"))
    let downloads = fixture.launch()
    let error = await #expect(throws: APIError.self) { try await downloads.start(fixture.request()) }
    #expect(error?.stage == .transport && fixture.desked.isEmpty)
  }

  private struct Odd: APIRequest {
    typealias Response = DownloadedFile
    var path: Path { "/film" }
    var method = HTTPMethod.get
    var body: RequestBody?
    var redirects: RedirectPolicy = .inherited
    var download: Download?
  }

  @Test func `unsupported options are refused`() async throws {
    let fixture = try BackgroundFixture()
    let downloads = fixture.launch()
    let plain = Download.to(fixture.place("film.bin"))
    var slow = plain
    slow.bytesPerSecond = 1_000
    var sharing = plain
    sharing.bandwidth = Bandwidth(bytesPerSecond: 1_000)
    var renewed = plain
    renewed.freshURL = { _ in "" }
    var waiting = plain
    waiting.whenBusy = .wait
    let odd = [
      (Odd(method: .post, body: .text("x"), download: plain), "has a body; "),
      (Odd(redirects: .never, download: plain), "follows no redirects, "),
      (Odd(download: slow), "limits its speed; leave `bytesPerSecond`"),
      (Odd(download: sharing), "limits its speed; leave `bandwidth`"), (Odd(download: renewed), "has a `freshURL`, "),
      (Odd(download: waiting), "has `whenBusy: .wait`, "),
    ]
    for (request, words) in odd {
      let error = await #expect(throws: APIError.self) { try await downloads.start(request) }
      #expect(error?.stage == .build && error?.code == .unsupported)
      let begin = "The request cannot become a background download: the request \(words)"
      #expect(error?.message.hasPrefix(begin) == true, "\(words)")
    }
    let error = await #expect(throws: APIError.self) { try await downloads.start(Odd()) }
    #expect(error?.stage == .build && error?.code == .unsupported)
    #expect(fixture.session.orders.isEmpty && fixture.desked.isEmpty)
  }

  @Test func `folder of the target must exist`() async throws {
    let fixture = try BackgroundFixture()
    let error = await #expect(throws: APIError.self) {
      try await fixture.launch().start(fixture.request("/film", "missing/film.bin"))
    }
    #expect(error?.stage == .transfer && error?.code == .file && fixture.session.orders.isEmpty)
  }
}
