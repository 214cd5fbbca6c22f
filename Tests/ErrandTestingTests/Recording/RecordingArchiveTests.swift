import Errand
import ErrandCore
import ErrandRecord
import ErrandTesting
import Foundation
import Testing

/// HTTP archives as recordings.
struct RecordingArchiveTests {
  private static func entry(
    _ url: String, method: String = "GET", posted: String = "", status: Int = 200, headers: String = "",
    content: String, more: String = ""
  ) -> String {
    """
    {"startedDateTime": "2026-01-31T12:00:00.250Z", "time": 30,
     "request": {"method": "\(method)", "url": "\(url)", "httpVersion": "http/2.0", "bodySize": -1,
      "headers": [{"name": ":path", "value": "/a"}, {"name": "X-A", "value": "1"}]\(posted)},
     "response": {"status": \(status), "statusText": "", "httpVersion": "http/2.0", "headers": [\(headers)],
      "content": \(content), "redirectURL": ""\(more)}, "timings": {"send": 0, "wait": 20, "receive": 8}}
    """
  }

  private static func text(_ text: String) -> String { #"{"size": 9, "mimeType": "text/plain", "text": "\#(text)"}"# }

  private static func recording(_ entries: String...) throws -> Recording {
    let log = """
      {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [\(entries.joined(separator: ","))]}}
      """
    return try Recording(HTTPArchive(parsing: Data(log.utf8)))
  }

  @Test func `entries answer in order`() async throws {
    let length = #"{"name": "Content-Length", "value": "99"}"#
    let replay = ReplayTransport(
      try Self.recording(
        Self.entry("https://h.example/a?page=2", headers: length, content: Self.text("one")),
        Self.entry("data:text/plain,x", content: Self.text("data")),
        Self.entry("https://h.example/a?page=2", content: Self.text("two"))), afterLast: .refused)
    #expect(try await get("https://h.example/a?page=2", over: replay) == "one")
    #expect(try await get("https://h.example/a?page=2", over: replay) == "two")
    let missing = try #require(await failure(of: HTTPRequest(url: "https://h.example/a?page=3"), over: replay))
    #expect(missing.kind == .notRecorded)
    #expect(missing.description.contains("GET https://h.example/a?page=2, which differs in: query"))
  }

  @Test func `messages keep head and body`() async throws {
    let posted = #", "postData": {"mimeType": "application/json", "text": "{\"city\": \"Paris\"}"}"#
    let recording = try Self.recording(
      Self.entry(
        "https://h.example/a", method: "POST", posted: posted, status: 201,
        headers: #"{"name": "Content-Length", "value": "2"}, {"name": "Content-Type", "value": "image/png"}"#,
        content: #"{"size": 3, "mimeType": "image/png", "text": "AP9h", "encoding": "base64"}"#))
    let recorded = try #require(recording.exchanges.first?.answer)
    #expect(recorded.head.status == 201 && recorded.head.version == .http2)
    #expect(Array(recorded.body) == [0, 0xFF, 0x61])
    #expect(recorded.head.fields[.contentLength] == "3")
    #expect(recording.exchanges.first?.request.fields.count == 1)
    let request = try HTTPRequest(
      method: .post, url: "https://h.example/a", body: HTTPBody(Data(#"{"city":"Paris"}"#.utf8)))
    #expect(try await answer(to: request, over: ReplayTransport(recording)).isEmpty == false)
  }

  @Test func `secrets of an archive are masked`() async throws {
    let recording = try Self.recording(
      Self.entry("https://h.example/a?token=hunter2hunter2", content: Self.text("hunter2hunter2")))
    #expect(!String(decoding: try recording.serialized(), as: UTF8.self).contains("hunter2"))
    #expect(try await get("https://h.example/a?token=another", over: ReplayTransport(recording)) == "masked")
  }

  @Test func `missing response names its entry`() async throws {
    let replay = ReplayTransport(
      try Self.recording(
        Self.entry("https://h.example/a", status: 0, content: "{}"),
        Self.entry("https://h.example/b", content: #"{"size": 12, "mimeType": "text/plain"}"#),
        Self.entry("https://h.example/c", status: 0, content: "{}", more: #", "_error": "net::ERR_FAILED""#)))
    let first = try #require(await failure(of: HTTPRequest(url: "https://h.example/a"), over: replay))
    #expect(first.kind == .notRecorded)
    #expect(first.description.contains("no response for GET https://h.example/a ($.log.entries[0])"))
    let second = try #require(await failure(of: HTTPRequest(url: "https://h.example/b"), over: replay))
    #expect(second.description.contains("no response body for GET https://h.example/b ($.log.entries[1])"))
    let third = try #require(await failure(of: HTTPRequest(url: "https://h.example/c"), over: replay))
    #expect(third.kind == .other && third.description.contains("net::ERR_FAILED"))
  }

  @Test(arguments: [
    ("https://h.example/a", 20, "{}", "log.entries[0].response.status"),
    ("https://h.example:port/a", 200, "{}", "log.entries[0].request.url"),
    (
      "https://h.example/a", 200, #"{"text": "%", "encoding": "base64"}"#,
      "log.entries[0].response.content.text: the value is not valid Base64"
    ),
  ])
  func `wrong member is named`(url: String, status: Int, content: String, text: String) {
    let error = #expect(throws: RecordingError.self) {
      try Self.recording(Self.entry(url, status: status, content: content))
    }
    #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
  }

  @Test func `wrong file is named`() throws {
    let place = RecordingPlace()
    let absent = #expect(throws: RecordingError.self) { try Recording(archive: place.path) }
    #expect(absent?.description.hasPrefix("The recording \(place.path) cannot be read: ") == true)
    let absentURL = #expect(throws: RecordingError.self) { try Recording(archive: URL(filePath: place.path)) }
    #expect(absentURL == absent)
    try place.write(#"{"log": {"version": "1.2"}}"#)
    let damaged = #expect(throws: RecordingError.self) { try Recording(archive: place.path) }
    #expect(damaged?.description.contains("log.creator is missing") == true)
  }

  /// A transport that replays the archive of a client, which received this response.
  private static func replay(
    of answer: ScriptedAnswer, _ detail: FlightRecording.Detail, bodyLimit: Int = 1_000
  ) async throws -> ReplayTransport {
    var configuration = ClientConfiguration(baseURL: "https://h.example")
    configuration.transport = .own(ScriptedTransport(answer))
    configuration.record = .ring(calls: 5, detail: detail, bodyLimit: bodyLimit)
    let client = APIClient(configuration)
    _ = try await client.get("/a?page=2", as: Data.self)
    return ReplayTransport(try Recording(HTTPArchive(parsing: client.flightRecord.har())))
  }

  @Test func `own archive is a fixture`() async throws {
    let json = try await Self.replay(of: .json(#"{"nick":"Ada"}"#), .addresses)
    #expect(try await get("https://h.example/a?page=2", over: json) == #"{"nick":"Ada"}"#)
    let image = try await Self.replay(of: .data([0x89, 0xFF, 0x00], contentType: "image/png"), .everything)
    #expect(image.unused.first.map { Array($0.answer.body) } == [0x89, 0xFF, 0x00])
  }

  @Test func `masked request body matches its secret`() async throws {
    var configuration = ClientConfiguration(baseURL: "https://h.example")
    configuration.transport = .own(ScriptedTransport(.text("in")))
    configuration.record = .ring(calls: 5, detail: .everything, bodyLimit: 1_000)
    let client = APIClient(configuration)
    _ = await client.outcome(of: LogIn())
    let archive = try HTTPArchive(parsing: client.flightRecord.har())
    #expect(archive.masked.entries.first?.request.body == #"{"code":"•••"}"#)
    var masked = archive
    masked.entries[0].request = archive.masked.entries[0].request
    configuration.transport = .own(ReplayTransport(try Recording(masked), afterLast: .refused))
    #expect(await APIClient(configuration).outcome(of: LogIn()).error == nil)
  }

  private struct LogIn: APIRequest {
    var path: Path { "/login" }
    var method: HTTPMethod { .post }
    var body: RequestBody? { .json(["code": "4-0AXdistinct9"]) }
    typealias Response = String
  }

  @Test(
    arguments: [
      (.addresses, 0, .json(#"{"nick":"Ada"}"#)), (.everything, 2, .text("Ada")), (.everything, 2, .json("[17, 18]")),
      (.everything, 4, .data([0x89, 0xFF, 0, 0, 0, 0])),
    ] as [(FlightRecording.Detail, Int, ScriptedAnswer)])
  func `body that was not recorded is missing`(
    detail: FlightRecording.Detail, limit: Int, answer: ScriptedAnswer
  ) async throws {
    let replay = try await Self.replay(of: answer, detail, bodyLimit: limit)
    let missing = try #require(await failure(of: HTTPRequest(url: "https://h.example/a?page=2"), over: replay))
    #expect(missing.kind == .notRecorded && missing.description.contains("no response body"), "\(missing)")
  }

  private struct GetText: APIRequest {
    var path: Path { "/a" }
    typealias Response = String
  }

  @Test func `only a redirect needs no body`() async throws {
    let moved = ScriptedAnswer.status(302, fields: ["Location": "/b", "Content-Length": "5"])
    var configuration = ClientConfiguration(baseURL: "https://h.example")
    configuration.transport = .own(ScriptedTransport(moved, .text("Ada")))
    configuration.record = .ring(calls: 5, detail: .everything, bodyLimit: 1_000)
    let client = APIClient(configuration)
    _ = await client.outcome(of: GetText(), options: CallOptions(bodySink: CollectingSink { _ in }))
    let answers = try Recording(HTTPArchive(parsing: client.flightRecord.har())).exchanges.map(\.answer)
    #expect(answers.map(\.failure?.kind) == [nil, .notRecorded])
    #expect(answers.first?.head.fields[.contentLength] == "0")
  }

  @Test func `length of a body is no body`() async throws {
    let replay = try await Self.replay(of: .text("Ada"), .addresses)
    let missing = try #require(await failure(of: HTTPRequest(url: "https://h.example/a?page=2"), over: replay))
    #expect(missing.kind == .notRecorded)
    #expect(missing.description.contains("no response body for GET https://h.example/a?page=••• ($.log.entries[0])"))
  }
}
