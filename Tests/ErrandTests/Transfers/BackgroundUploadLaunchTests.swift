import Errand
import ErrandBackground
import ErrandHTTP
import ErrandTesting
import ErrandTransfer
import Foundation
import Testing

/// Background uploads over several launches of the app.
struct BackgroundUploadLaunchTests {
  private static let film = SendFilm(body: .text("film"))

  @Test func `next launch receives the response`() async throws {
    let fixture = try BackgroundFixture()
    let file = try fixture.put("film", "film.bin")
    let id = try await fixture.launchUploads().start(SendFilm(body: .file(file)), tag: "film").id
    let uploads = fixture.launchUploads()
    #expect(await uploads.running.map(\.id) == [id])
    try FileManager.default.removeItem(at: file)
    try fixture.session.answer(id, .json("{\"id\":7}"))
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.id == id && ending.tag == "film")
    #expect(try await ending.value(for: SendFilm(body: .file(file))) == .init(id: 7), "the request is not built again")
  }

  @Test(arguments: [200, 422]) func `unfinished response is delivered again`(status: Int) async throws {
    let fixture = try BackgroundFixture()
    let (heard, gate) = (Latch(), Latch())
    let first = fixture.launchUploads { _ in
      heard.open()
      try? await gate.wait()
    }
    let id = try await first.start(Self.film).id
    try fixture.session.answer(id, .json("{\"id\":7,\"reason\":\"too long\"}", status: status))
    try await heard.wait()
    let second = fixture.launchUploads()
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.id == id)
    if status == 200 {
      #expect(try await ending.value(for: SendFilm()) == .init(id: 7))
    } else {
      let error = await #expect(throws: APIError.self) { try await ending.value(for: SendFilm()) }
      #expect(error?.code == .status && error?.body(as: SendFilm.ErrorBody.self)?.reason == "too long")
    }
    fixture.session.report(.allReported)
    await second.eventsHandled()
    #expect(fixture.desked.isEmpty)
    gate.open()
  }

  @Test(arguments: ["", "{\"id\":1}2"]) func `response truncated by power loss is ignored`(left: String) async throws {
    let fixture = try BackgroundFixture()
    let (heard, gate) = (Latch(), Latch())
    let first = fixture.launchUploads { _ in
      heard.open()
      try? await gate.wait()
    }
    let id = try await first.start(Self.film).id
    try fixture.session.answer(id, .json("{\"id\":7}"))
    try await heard.wait()
    _ = try fixture.put(left, "desk/\(id).answer")
    let second = fixture.launchUploads()
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.id == id && ending.result.failure?.code == .interrupted)
    fixture.session.report(.allReported)
    await second.eventsHandled()
    #expect(fixture.desked.isEmpty)
    gate.open()
  }

  @Test func `response and its name are synced`() async throws {
    let fixture = try BackgroundFixture()
    let files = HookedFiles { _, _, _ in nil }
    let upload = try await fixture.launchUploads(files: files).start(Self.film)
    let before = files.calls.count
    try fixture.session.answer(upload.id, .json("{\"id\":7}"))
    _ = try await upload.response()
    let calls = Array(files.calls[before...])
    #expect(calls.contains([.rename, .open, .synchronize, .close, .synchronize]))
  }

  @Test func `lost upload is reported after all events`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launchUploads().start(Self.film).id
    fixture.session.lose(id)
    let uploads = fixture.launchUploads()
    #expect(await uploads.running.map(\.id) == [id], "its end may still arrive")
    fixture.session.report(.allReported)
    await uploads.eventsHandled()
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.id == id && ending.result.failure?.code == .interrupted)
    #expect(fixture.desked.isEmpty)
  }

  @Test func `late response is delivered`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launchUploads().start(Self.film).id
    fixture.session.lose(id)
    let uploads = fixture.launchUploads()
    _ = await uploads.running
    try fixture.session.answer(id, .json("{\"id\":7}"))
    fixture.session.report(.allReported)
    await uploads.eventsHandled()
    #expect(await fixture.nextUpload()?.result.failure == nil)
  }

  @Test func `orphaned files are removed`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launchUploads().start(Self.film).id
    for name in ["a.body", "b.answer", "c.upload.tmp"] { _ = try fixture.put("x", "desk/\(name)") }
    _ = try fixture.put("{\"format\":1}", "desk/d.upload")
    _ = try fixture.put("x", "desk/d.body")
    // Files of downloads are not touched.
    for name in ["e.download", "f.bytes"] { _ = try fixture.put("x", "desk/\(name)") }
    try fixture.session.start(BackgroundOrder(name: "d", request: HTTPRequest(url: "https://h.example/x")))
    #expect(await fixture.launchUploads().running.map(\.id) == [id])
    #expect(fixture.desked == ["\(id).body", "\(id).upload", "e.download", "f.bytes"].sorted())
    #expect(fixture.session.running == [id])
  }

  @Test func `starts succeed after unreadable records`() async throws {
    let fixture = try BackgroundFixture()
    let uploads = fixture.launchUploads(files: HookedFiles(failing: 1, 1))
    _ = await uploads.running
    async let one = uploads.start(Self.film)
    async let other = uploads.start(Self.film)
    for upload in try await [one, other] {
      #expect(try fixture.session.body(of: upload.id) == Data("film".utf8))
      try fixture.session.answer(upload.id, .json("{\"id\":7}"))
      #expect(try await upload.value(for: Self.film) == .init(id: 7))
    }
  }

  @Test func `cancel survives the app's exit`() async throws {
    let fixture = try BackgroundFixture()
    let first = fixture.launchUploads()
    let upload = try await first.start(Self.film)
    // The system receives the cancel, and no process receives its response.
    fixture.session.endProcess()
    upload.cancel()
    _ = try? await first.start(Self.film)
    #expect(fixture.session.running.count == 1)
    _ = await fixture.launchUploads().running
    let ending = try #require(await fixture.nextUpload())
    #expect(ending.id == upload.id && ending.result.failure?.stage == .cancelled)
  }

  @Test func `moved home folder is followed`() async throws {
    let fixture = try BackgroundFixture()
    let (old, new) = (fixture.place("old"), fixture.place("new"))
    try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
    let file = try fixture.put("film", "old/film.bin")
    let id = try await fixture.launchUploads(home: old.path).start(SendFilm(body: .file(file))).id
    try FileManager.default.moveItem(at: old, to: new)
    _ = try fixture.put("another film", "new/film.bin")
    let uploads = fixture.launchUploads(home: new.path)
    _ = await uploads.running
    try fixture.session.answer(id, .json("{\"id\":7}"))
    #expect(await fixture.nextUpload()?.result.failure?.code.rawValue == "bodyChanged", "the file was examined")
  }
}
