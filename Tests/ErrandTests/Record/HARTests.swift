import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// The HTTP archive of a record, compared with the members that HAR 1.2 requires.
struct HARTests {
  /// The required members of each object of HAR 1.2, by their paths.
  private static let required: [(path: String, members: [String])] = [
    ("", ["version", "creator", "entries"]), ("creator", ["name", "version"]),
    ("entry", ["startedDateTime", "time", "request", "response", "cache", "timings"]),
    (
      "request",
      ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"]
    ),
    (
      "response",
      [
        "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
        "bodySize",
      ]
    ),
    ("content", ["size", "mimeType"]), ("timings", ["send", "wait", "receive"]),
  ]

  private func members(_ path: String) -> [String] { Self.required.first { $0.path == path }?.members ?? [] }

  private func expect(_ value: JSONValue?, has path: String, sourceLocation: SourceLocation = #_sourceLocation) {
    guard case .object(let found)? = value?.content else {
      Issue.record("\(path) is no object", sourceLocation: sourceLocation)
      return
    }
    for name in members(path) { #expect(found[name] != nil, "\(path).\(name)", sourceLocation: sourceLocation) }
  }

  /// The entries of a valid archive.
  private func entries(_ record: FlightRecord) throws -> [JSONValue] {
    let log = try #require(try JSONValue(parsing: record.har())["log"])
    expect(log, has: "")
    expect(log["creator"], has: "creator")
    #expect(log["version"]?.stringValue == "1.2")
    let entries = try #require(log["entries"]?.arrayValue)
    for entry in entries {
      expect(entry, has: "entry")
      expect(entry["request"], has: "request")
      expect(entry["response"], has: "response")
      expect(entry["response"]?["content"], has: "content")
      expect(entry["timings"], has: "timings")
      let started = try #require(entry["startedDateTime"]?.stringValue)
      #expect((try? Date(started, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))) != nil)
      let phases = ["blocked", "dns", "connect", "send", "wait", "receive"]
      let sum = phases.reduce(0) { $0 + max(entry["timings"]?[$1]?.doubleValue ?? 0, 0) }
      #expect(
        abs(sum - (entry["time"]?.doubleValue ?? -1)) < 0.001, "HAR 1.2 requires time to be the sum of the phases")
      for list in [entry["request"]?["headers"], entry["response"]?["headers"], entry["request"]?["queryString"]] {
        for pair in try #require(list?.arrayValue) {
          #expect(pair["name"]?.stringValue != nil && pair["value"]?.stringValue != nil)
        }
      }
    }
    return entries
  }

  @Test func `each exchange is an entry`() async throws {
    let server = try LoopbackServer { request in
      request.number == 1 ? .status(503) : .ok("done").setting("Content-Type", to: "text/plain")
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 5)
    configuration.retries = RetryPolicy(firstDelay: .zero, busyDelay: .zero)
    let client = APIClient(configuration)
    _ = await client.outcome(of: FlightFixture.Get(path: "/a?q=1"))
    let entries = try entries(client.flightRecord)
    #expect(entries.map { $0["response"]?["status"]?.intValue } == [503, 200])
    #expect(entries.map { $0["_errand"]?["attempt"]?.intValue } == [1, 2])
    #expect(entries[0]["_errand"]?["decisions"] == nil)
    let decisions = entries[1]["_errand"]?["decisions"]?.arrayValue?.compactMap(\.stringValue) ?? []
    #expect(decisions.contains("retried at once: status 503, attempt 2 of 3"))
    #expect(entries[1]["_errand"]?["offsets"]?.arrayValue?.count == decisions.count)
    #expect(entries[1]["_errand"]?["outcome"]?["origin"] == "network")
    #expect(entries[1]["request"]?["url"]?.stringValue == "\(server.url)/a?q=•••")
    #expect(entries[1]["request"]?["queryString"]?[0]["name"]?.stringValue == "q")
    #expect(entries[1]["response"]?["content"]?["mimeType"]?.stringValue == "text/plain")
    #expect(entries[1]["response"]?["content"]?["size"]?.intValue == 4)
    #expect(entries[1]["request"]?["httpVersion"]?.stringValue == "HTTP/1.1")
    #expect(entries[1]["serverIPAddress"] == "127.0.0.1")
    #expect(entries[1]["connection"]?.stringValue == "\(server.port)")
  }

  @Test func `calls without an exchange are entries`() async throws {
    let fixture = FlightFixture { _, _ in .text("page", fields: ["Cache-Control": "max-age=60"]) }
    for _ in 0..<2 { _ = await fixture.why(FlightFixture.Get(cache: .http)) }
    _ = await fixture.why(FlightFixture.Get(path: "/none", cache: .http), options: .cache(.cacheOnly))
    let entries = try entries(fixture.client.flightRecord)
    #expect(entries.count == 3)
    #expect(entries[1]["_fromCache"]?.stringValue == "memory" && entries[1]["response"]?["status"]?.intValue == 200)
    #expect(entries[2]["response"]?["status"]?.intValue == 0 && entries[2]["response"]?["_error"] != nil)
    #expect(entries[1]["_errand"]?["outcome"]?["origin"] == "cache-fresh")
    #expect(entries[2]["_errand"]?["outcome"]?["failure"]?["stage"]?.stringValue != nil)
  }

  @Test func `bodies are part of the archive`() async throws {
    let server = try LoopbackServer { _ in .ok("pong").setting("Content-Type", to: "text/plain") }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 5, detail: .everything, bodyLimit: 100)
    let client = APIClient(configuration)
    _ = await client.outcome(of: FlightFixture.Get(method: .post, body: .text("ping")))
    let entry = try #require(try entries(client.flightRecord).first)
    #expect(entry["request"]?["postData"]?["text"]?.stringValue == "ping")
    #expect(entry["request"]?["bodySize"]?.intValue == 4)
    #expect(entry["response"]?["content"]?["text"]?.stringValue == "pong")
    #expect(entry["response"]?["content"]?["size"]?.intValue == 4)
  }

  /// A text that the limit cuts within a character is a text nevertheless.
  @Test(
    arguments: [
      ([0x89, 0x50, 0xFF], nil, "iVD/", "base64"), ([0x89, 0x50, 0xFF, 0x00, 0x01], nil, "iVD/AA==", "base64"),
      (Array("aéé".utf8), "text/plain", "aé\u{FFFD}", nil),
    ] as [([UInt8], String?, String, String?)])
  func `body that is no text is in Base64`(
    bytes: [UInt8], type: String?, text: String, encoding: String?
  ) async throws {
    let bench = ScriptedClient({ $0.record = .ring(calls: 5, detail: .everything, bodyLimit: 4) }) { _ in
      .data(bytes, contentType: type ?? "image/png")
    }
    _ = try await bench.client.send(Sending())
    let content = try entries(bench.client.flightRecord).first?["response"]?["content"]
    #expect(content?["text"]?.stringValue == text && content?["encoding"]?.stringValue == encoding)
    #expect(content?["size"]?.intValue == bytes.count)
  }

  /// The processor time that the current thread needs for an archive, in nanoseconds.
  private static func work(_ record: FlightRecord) -> Int {
    func now() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    return (0..<2).map { _ in
      let start = now()
      #expect(!record.har().isEmpty)
      return now() - start
    }.min() ?? 0
  }

  /// The tag is part of each entry. If the secrets of the call were collected again for each of its 200 exchanges, the
  /// archive of a call with a tag would take many times as long.
  @Test func `tag costs little time`() async throws {
    let body = RequestBody.json(JSONValue.array((0..<200).map { JSONValue.integer(Int64($0)) }))
    func record(_ tag: String?) async -> FlightRecord {
      let bench = ScriptedClient({
        $0.record = .ring(calls: 1)
        $0.retries = RetryPolicy(attempts: 200, firstDelay: .zero, busyDelay: .zero)
        $0.retries.usesBudget = false
      }) { _ in .status(503) }
      let request = FlightFixture.Get(method: .put, body: body)
      _ = await bench.client.outcome(of: request, options: CallOptions(tag: tag))
      return bench.client.flightRecord
    }
    let (plain, tagged) = (await record(nil), await record("of Ada"))
    let entries = try entries(tagged)
    #expect(entries.count == 200 && entries.allSatisfy { $0["_errand"]?["tag"] == "of Ada" })
    #expect(Self.work(tagged) < 5 * Self.work(plain) + 10_000_000)
  }

  @Test func `empty record is a valid archive`() throws {
    #expect(try entries(APIClient(baseURL: "http://h.example").flightRecord).isEmpty)
  }
}
