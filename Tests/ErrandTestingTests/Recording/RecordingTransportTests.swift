import ErrandHTTP
import ErrandSupport
import Errand
import ErrandTesting
import Foundation
import Testing

struct RecordingTransportTests {
  private let url = "https://h.example/a"

  @Test func `sink's body is recorded`() async throws {
    let body = String(repeating: "0123456789", count: 5_000)
    let recorder = RecordingTransport(ScriptedTransport(.text(body)))
    let seen = Locked("")
    let sink = CollectingSink { piece in seen.withLock { $0 += piece } }
    let response = try await recorder.send(Exchange(request: HTTPRequest(url: url), sink: sink))
    #expect(response.body.isEmpty)
    #expect(seen.withLock { $0 } == body)
    #expect(sink.hasEnded)
    #expect(try recorder.recording().exchanges[0].answer.body == Data(body.utf8))
  }

  @Test func `streamed request is recorded`() async throws {
    let scripted = ScriptedTransport(.text("ok"), .text("again"))
    let recorder = RecordingTransport(scripted)
    let body = HTTPBody.stream(length: 300, isReplayable: true) { _ in LetterSource(count: 300) }
    let request = try HTTPRequest(method: .post, url: url, body: body)
    for _ in 0..<2 { _ = try await recorder.send(Exchange(request: request)) }
    let expected = Data(repeating: 0x61, count: 300)
    #expect(scripted.requests.map(\.body?.data) == [expected, expected])
    #expect(try recorder.recording().exchanges.map(\.request.body?.data) == [expected, expected])
    let replay = ReplayTransport(try recorder.recording(), afterLast: .refused)
    #expect(try await answer(to: request, over: replay) == "ok")
    #expect(try await answer(to: request, over: replay) == "again")
  }

  @Test func `file is sent as a file`() async throws {
    let place = RecordingPlace()
    try place.write(String(repeating: "line\n", count: 20_000))
    let request = try HTTPRequest(method: .put, url: url, body: .file(URL(fileURLWithPath: place.path)))
    let recorder = RecordingTransport(WholeFileTransport())
    #expect(try await recorder.send(Exchange(request: request)).body == place.bytes)
    #expect(try recorder.recording().exchanges.map(\.request.body?.data) == [place.bytes])
    let narrow = RecordingTransport(WholeFileTransport(), bodyLimit: 99_999)
    #expect(try await narrow.send(Exchange(request: request)).body == place.bytes)
    #expect(throws: RecordingError.self) { try narrow.recording() }
    let late = RecordingTransport(WholeFileTransport { try? place.write("another file") })
    _ = try await late.send(Exchange(request: request))
    #expect(try late.recording().exchanges.isEmpty)
  }

  @Test(arguments: [true, false]) func `response over the limit is reported`(_ streams: Bool) async throws {
    let recorder = RecordingTransport(ScriptedTransport(.text("12345"), .text("123456")), bodyLimit: 5)
    let place = RecordingPlace()
    for path in ["/fits?token=abc", "/long?token=abc"] {
      let sink = streams ? CollectingSink { _ in } : nil
      _ = try await recorder.send(Exchange(request: HTTPRequest(url: "https://h.example\(path)"), sink: sink))
      if path.contains("fits") { #expect(try recorder.recording().exchanges.count == 1) }
    }
    let error = #expect(throws: RecordingError.self) { try recorder.save(to: place.path) }
    let sentence = try #require(error).description
    #expect(sentence.contains("GET https://h.example/long") && sentence.contains("5 bytes"))
    #expect(sentence.contains("bodyLimit") && !sentence.contains("abc"))
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test func `request over the limit is reported`() async throws {
    for body in [HTTPBody(Data(count: 6)), HTTPBody.stream { _ in LetterSource(count: 6) }] {
      let recorder = RecordingTransport(ScriptedTransport(.text("ok")), bodyLimit: 5)
      _ = try await recorder.send(Exchange(request: HTTPRequest(method: .post, url: url, body: body)))
      #expect(throws: RecordingError.self) { try recorder.recording() }
    }
  }

  @Test func `exchanges keep their start order`() async throws {
    let latch = Latch()
    let recorder = RecordingTransport(
      ScriptedTransport { request in
        if request.url.path == "/first" { try await latch.wait() }
        return .text(request.url.path)
      })
    async let first = get("https://h.example/first", over: recorder)
    await latch.reached()
    _ = try await get("https://h.example/second", over: recorder)
    #expect(try recorder.recording().exchanges.map(\.request.url.path) == ["/second"], "one exchange is still running")
    latch.open()
    _ = try await first
    #expect(try recorder.recording().exchanges.map(\.request.url.path) == ["/first", "/second"])
  }

  @Test func `failures are recorded, cancellations are not`() async throws {
    let recorder = RecordingTransport(
      ScriptedTransport { request in
        switch request.url.path {
        case "/broken": return .failure(.reset, "gone")
        case "/half": return .text("half").breakingOff(.truncated)
        case "/stopped": throw CallState.Stopped(reason: .cancelled)
        default: return .failure(.sink)
        }
      })
    for path in ["broken", "half", "stopped", "sink"] {
      _ = try? await recorder.send(
        Exchange(request: HTTPRequest(url: "https://h.example/\(path)"), sink: CollectingSink { _ in }))
    }
    let exchanges = try recorder.recording().exchanges
    #expect(exchanges.map(\.request.url.path) == ["/broken", "/half"])
    #expect(exchanges[0].answer.failure == TransportFailure(.reset, "gone"))
    #expect(exchanges[1].answer.failure == nil)
    #expect(exchanges[1].answer.body == Data("half".utf8))
    #expect(exchanges[1].answer.breakage?.kind == .truncated)
  }

  @Test func `recorder has the base's properties`() {
    struct Odd: Transport {
      let capabilities: TransportCapabilities = [.http2, .observesStop]
      let contentCodings = ["br"]
      let timers: (any Timers)? = ManualClock()
      func send(_ exchange: Exchange) async throws -> HTTPResponse { throw CancellationError() }
    }
    let recorder = RecordingTransport(Odd())
    #expect(recorder.capabilities == [.http2, .observesStop])
    #expect(recorder.contentCodings == ["br"])
    #expect(recorder.timers is ManualClock)
  }
}

/// A source of `count` letters, at most seven at a time.
final class LetterSource: BodySource {
  private var left: Int

  init(count: Int) { left = count }

  func read(into room: UnsafeMutableRawBufferPointer) -> BodyRead {
    let count = min(left, 7, room.count)
    guard count > 0 else { return .end }
    for index in 0..<count { room[index] = 0x61 }
    left -= count
    return .bytes(count)
  }
}
