import Errand
import ErrandBackground
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// Background downloads over several launches of the app.
struct BackgroundLaunchTests {
  @Test func `next launch receives a finished file`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launch().start(fixture.request(), tag: "film").id
    let downloads = fixture.launch()
    #expect(await downloads.running.map(\.id) == [id])
    try fixture.session.answer(id, .text("foo"))
    let ending = try #require(await fixture.next())
    #expect(ending.id == id && ending.tag == "film" && (try? ending.result.get())?.bytes == 3)
    #expect(fixture.text("film.bin") == "foo")
  }

  @Test func `equal request joins an earlier launch's download`() async throws {
    let fixture = try BackgroundFixture()
    let first = try await fixture.launch().start(fixture.request())
    let second = try await fixture.launch().start(fixture.request())
    #expect(first.id == second.id && fixture.session.orders.count == 1)
  }

  @Test func `lost download is reported after all events`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launch().start(fixture.request()).id
    fixture.session.lose(id)
    let downloads = fixture.launch()
    #expect(await downloads.running.map(\.id) == [id], "its end may still arrive")
    fixture.session.report(.allReported)
    await downloads.eventsHandled()
    let ending = try #require(await fixture.next())
    #expect(ending.id == id && ending.result.code == .interrupted)
    #expect(fixture.desked.isEmpty)
  }

  @Test func `late end is delivered`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launch().start(fixture.request()).id
    fixture.session.lose(id)
    let downloads = fixture.launch()
    _ = await downloads.running
    try fixture.session.answer(id, .text("foo"))
    fixture.session.report(.allReported)
    await downloads.eventsHandled()
    #expect(try #require(await fixture.next()).result.code == nil && fixture.text("film.bin") == "foo")
  }

  @Test func `download missing twice is lost`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launch().start(fixture.request()).id
    fixture.session.lose(id)
    _ = await fixture.launch().running
    _ = await fixture.launch().running
    #expect(await fixture.next()?.result.code == .interrupted)
  }

  @Test func `missing download is replaced by a new one`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launch().start(fixture.request()).id
    fixture.session.lose(id)
    let downloads = fixture.launch()
    let second = try await downloads.start(fixture.request())
    #expect(second.id != id)
    let ending = try #require(await fixture.next())
    #expect(ending.id == id && ending.result.code == .interrupted)
    // No call waits for this file any more.
    try fixture.session.answer(id, .text("old"))
    try fixture.session.answer(second.id, .text("new"))
    _ = try await second.value()
    #expect(fixture.text("film.bin") == "new")
  }

  @Test func `unknown transfer is cancelled`() async throws {
    let fixture = try BackgroundFixture()
    try fixture.session.start(BackgroundOrder(name: "stranger", request: HTTPRequest(url: "https://h.example/x")))
    _ = await fixture.launch().running
    #expect(fixture.session.running.isEmpty)
  }

  @Test func `damaged record cancels its download`() async throws {
    let fixture = try BackgroundFixture()
    let id = try await fixture.launch().start(fixture.request()).id
    try Data("{\"format\":1}".utf8).write(to: fixture.desk.appending(path: "\(id).download"))
    try Data("x".utf8).write(to: fixture.desk.appending(path: "\(id).bytes"))
    #expect(await fixture.launch().running.isEmpty)
    #expect(fixture.session.running.isEmpty && fixture.desked.isEmpty)
  }

  @Test func `unfinished ending is delivered again`() async throws {
    let fixture = try BackgroundFixture()
    let (heard, gate) = (Latch(), Latch())
    let first = fixture.launch { _ in
      heard.open()
      try? await gate.wait()
    }
    let id = try await first.start(fixture.request()).id
    try fixture.session.answer(id, .text("foo"))
    try await heard.wait()
    let second = fixture.launch()
    let ending = try #require(await fixture.next())
    #expect(ending.id == id && (try? ending.result.get())?.bytes == 3)
    fixture.session.report(.allReported)
    await second.eventsHandled()
    #expect(fixture.text("film.bin") == "foo" && fixture.desked.isEmpty)
    gate.open()
  }

  @Test func `cancel survives the app's exit`() async throws {
    let fixture = try BackgroundFixture()
    let first = fixture.launch()
    let download = try await first.start(fixture.request())
    // The system receives the cancel, and no process receives its response.
    fixture.session.endProcess()
    download.cancel()
    _ = try? await first.start(fixture.request("/b", "b.bin"))
    #expect(fixture.session.running.count == 1)
    let second = fixture.launch()
    _ = await second.running
    let ending = try #require(await fixture.next())
    #expect(ending.id == download.id && ending.result.stage == .cancelled)
  }

  @Test func `moved home folder is followed`() async throws {
    let fixture = try BackgroundFixture()
    let (old, new) = (fixture.place("old"), fixture.place("new"))
    try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
    let id = try await fixture.launch(home: old.path).start(fixture.request("/film", "old/film.bin")).id
    try FileManager.default.moveItem(at: old, to: new)
    let downloads = fixture.launch(home: new.path)
    _ = await downloads.running
    try fixture.session.answer(id, .text("foo"))
    #expect(try #require(await fixture.next()).result.code == nil)
    #expect(fixture.text("new/film.bin") == "foo")
  }

  @Test func `settled waits for running deliveries`() async throws {
    let fixture = try BackgroundFixture()
    let (heard, gate, isOver) = (Latch(), Latch(), Recorded<String>())
    let downloads = fixture.launch { _ in
      heard.open()
      try? await gate.wait()
      isOver.append("told")
    }
    let id = try await downloads.start(fixture.request()).id
    let settled = Task {
      await downloads.eventsHandled()
      isOver.append("settled")
    }
    try fixture.session.answer(id, .text("foo"))
    fixture.session.report(.allReported)
    try await heard.wait()
    gate.open()
    await settled.value
    #expect(isOver.all == ["told", "settled"])
  }

  @Test func `wait for settled may be cancelled`() async throws {
    let fixture = try BackgroundFixture()
    let downloads = fixture.launch()
    let settled = Task { await downloads.eventsHandled() }
    settled.cancel()
    await settled.value
  }
}

extension Result where Failure == APIError {
  fileprivate var stage: APIError.Stage? { if case .failure(let error) = self { error.stage } else { nil } }
  fileprivate var code: APIError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}
