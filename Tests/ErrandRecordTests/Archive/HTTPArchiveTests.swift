import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandRecord

struct HTTPArchiveTests {
  /// An entry as Chrome writes it, with members that HAR 1.2 does not have.
  private static let chrome = """
    {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "entries": [{
      "_connectionId": "80", "_initiator": {"type": "script", "stack": {"callFrames": []}}, "_priority": "High",
      "_resourceType": "fetch", "cache": {}, "connection": "443", "pageref": "page_1",
      "request": {"method": "POST", "url": "https://h.example/a?token=s3cret-s3cret&page=2", "httpVersion": "http/2.0",
        "headers": [{"name": ":authority", "value": "h.example"}, {"name": "cookie", "value": "sid=s3cret-s3cret"},
          {"name": "content-type", "value": "application/json"}, {"name": "accept-encoding", "value": "gzip"}],
        "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 20,
        "postData": {"mimeType": "application/json", "text": "{\\"password\\":\\"hunter2hunter2\\",\\"city\\":\\"it's\\"}"}},
      "response": {"status": 200, "statusText": "", "httpVersion": "http/2.0", "headers": [], "cookies": [],
        "content": {"size": 3, "mimeType": "text/plain", "text": "YQ==", "encoding": "base64"}, "redirectURL": "",
        "headersSize": -1, "bodySize": -1, "_transferSize": 120, "_error": null},
      "serverIPAddress": "192.0.2.1", "startedDateTime": "2026-01-31T12:00:00.250Z", "time": 30.5,
      "timings": {"blocked": 1.5, "dns": -1, "ssl": -1, "connect": -1, "send": 0.5, "wait": 20, "receive": 8.5,
        "_blocked_queueing": null}
    }]}}
    """
  /// An entry as Firefox writes it: with an offset from UTC, and a form without a text.
  private static let firefox = """
    {"log": {"version": "1.2", "creator": {"name": "Firefox", "version": "140.0"}, "entries": [{
      "startedDateTime": "2026-01-31T13:00:00.250+01:00", "time": 12, "_securityState": "secure",
      "request": {"bodySize": 7, "method": "POST", "url": "https://h.example/form", "httpVersion": "HTTP/2",
        "headers": [{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}], "cookies": [],
        "queryString": [], "headersSize": 400, "postData": {"mimeType": "application/x-www-form-urlencoded",
        "params": [{"name": "a", "value": "1"}, {"name": "b"}], "text": ""}},
      "response": {"status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [],
        "content": {"mimeType": null, "size": 0}, "redirectURL": "", "headersSize": -1, "bodySize": -1},
      "cache": {}, "timings": {"blocked": 0, "connect": 0, "send": 0, "wait": 12, "receive": 0}
    }]}}
    """

  private func parse(_ text: String) throws(HTTPArchiveError) -> HTTPArchive {
    try HTTPArchive(parsing: Data(text.utf8))
  }

  @Test func `archive of Chrome is read`() throws {
    let archive = try parse(Self.chrome)
    #expect(archive.creator == "WebInspector" && archive.creatorVersion == "537.36")
    let entry = try #require(archive.entries.first)
    #expect(entry.request.method == "POST" && entry.request.headers.count == 4)
    #expect(entry.response.status == 200 && entry.response.isBase64 && entry.response.failure == nil)
    #expect(entry.time == .milliseconds(30.5) && entry.timings.dns == nil && entry.timings.wait == .milliseconds(20))
    #expect(entry.details == nil && entry.serverAddress == "192.0.2.1")
    #expect(archive.calls.map(\.id) == ["1"] && archive.calls.first?.attempts == 1)
  }

  @Test func `archive of Firefox is read`() throws {
    let entry = try #require(try parse(Self.firefox).entries.first)
    #expect(entry.request.body == "a=1&b=" && entry.response.status == nil)
    #expect(entry.startedAt == (try parse(Self.chrome)).entries.first?.startedAt)
  }

  @Test func `own archive is read and written again`() async throws {
    let bench = try RecordedClient { request in request.number == 1 ? .status(503) : .ok("done") }
    await bench.call("/a?q=1")
    let archive = try HTTPArchive(parsing: bench.client.flightRecord.har())
    #expect(archive.entries.count == 2)
    let call = try #require(archive.calls.first)
    let recorded = try #require(bench.client.flightRecord.calls.first)
    #expect(archive.calls.count == 1 && call.number == recorded.number && call.attempts == 2)
    #expect(call.status == 200 && call.origin == "network" && call.failure == nil && call.requestType == "Get")
    #expect(call.decisions.map(\.text).joined(separator: "\n") == recorded.why)
    #expect(call.decisions.map(\.kind) == ["sent", "retried", "sent"])
    let offsets = call.decisions.compactMap(\.offset)
    #expect(offsets.count == 3 && offsets == offsets.sorted())
    #expect(abs((call.duration - recorded.duration) / .milliseconds(1)) < 0.001)
    #expect(try HTTPArchive(parsing: archive.serialized()) == archive)
  }

  @Test func `failure of a call is part of its archive`() async throws {
    let bench = try RecordedClient { _ in .status(404) }
    await bench.call()
    let call = try #require(try HTTPArchive(parsing: bench.client.flightRecord.har()).calls.first)
    #expect(call.status == 404 && call.failure == "validate/status" && call.failureMessage?.contains("404") == true)
  }

  @Test(arguments: [
    ("\"url\": \"https", "\"url\": 7, \"_\": \"https", "log.entries[0].request.url", HTTPArchiveError.Code.wrongType),
    ("\"status\": 200", "\"status\": 2000", "log.entries[0].response.status", .wrongValue),
    ("\"status\": 200", "\"status\": \"OK\"", "log.entries[0].response.status", .wrongType),
    ("\"status\": 200", "\"status\": 20.5", "log.entries[0].response.status", .wrongValue),
    ("\"time\": 30.5", "\"time\": null", "log.entries[0].time", .missing),
    ("2026-01-31T12", "31.1.2026 12", "log.entries[0].startedDateTime", .wrongValue),
    ("\"name\": \"cookie\"", "\"nam\": \"cookie\"", "log.entries[0].request.headers[1].name", .missing),
    ("\"version\": \"1.2\"", "\"version\": \"2.0\"", "log.version", .wrongValue),
    ("\"entries\": [{", "\"entries\": {\"a\": [{", "", .notJSON),
    ("\"wait\": 20", "\"wait\": \"20\"", "log.entries[0].timings.wait", .wrongType),
    ("{\"log\"", "{\"lo\"", "log", .missing),
  ])
  func `wrong member is named`(old: String, new: String, path: String, code: HTTPArchiveError.Code) {
    let text = Self.chrome.replacingOccurrences(of: old, with: new)
    let error = #expect(throws: HTTPArchiveError.self) { try parse(text) }
    #expect(error?.code == code && error?.path ?? "" == path, "\(String(describing: error))")
    #expect(path.isEmpty || error?.description.contains(path) == true)
  }

  @Test(arguments: ["", "[]", "{}", "null", "{\"log\": []}", "\u{FEFF}", "{\"log\": {\"version\": 1}}"])
  func `other text is rejected`(text: String) {
    #expect(throws: HTTPArchiveError.self) { try parse(text) }
  }

  @Test func `every cut archive is rejected without a trap`() {
    let bytes = Array(Self.chrome.utf8)
    for length in stride(from: 0, to: bytes.count - 1, by: 7) {
      #expect(throws: HTTPArchiveError.self) { try HTTPArchive(parsing: Data(bytes[..<length])) }
    }
  }

  @Test func `changed bytes never trap`() {
    var random = SystemRandomNumberGenerator()
    let bytes = Array(Self.chrome.utf8)
    for _ in 0..<2_000 {
      var changed = bytes
      for _ in 0..<3 {
        let place = Int.random(in: 0..<changed.count, using: &random)
        changed[place] = UInt8.random(in: 0...255, using: &random)
      }
      // Whatever is read can be written, masked and grouped, too.
      guard let archive = try? HTTPArchive(parsing: Data(changed)) else { continue }
      #expect(!archive.masked.serialized().isEmpty && archive.calls.count == 1)
    }
  }

  @Test(arguments: ["1e308", "-1e308", "1e30", "-1", "9223372036854775807"])
  func `extreme numbers are read without a trap`(number: String) throws {
    let text = Self.chrome.replacingOccurrences(of: "\"time\": 30.5", with: "\"time\": \(number)")
      .replacingOccurrences(of: "\"size\": 3", with: "\"size\": -5")
    let archive = try parse(text)
    #expect(!archive.serialized().isEmpty)
  }

  @Test func `secrets are masked`() throws {
    let archive = try parse(Self.chrome).masked
    let text = String(decoding: archive.serialized(), as: UTF8.self)
    #expect(!text.contains("s3cret-s3cret") && !text.contains("hunter2"))
    #expect(text.contains("page=2") && text.contains("it's"))
  }

  @Test(arguments: [
    ("••• 12 bytes", "••• 12 bytes"), ("••• hunter2hunter2", "••• 24 bytes"), ("•••", "••• 9 bytes"),
    ("plain", "••• 5 bytes"),
  ])
  func `unknown body shows only its length`(body: String, masked: String) throws {
    var archive = try parse(Self.chrome)
    archive.entries[0].request.headers = []
    archive.entries[0].request.body = body
    #expect(archive.masked.entries[0].request.body == masked)
    #expect(archive.masked.masked == archive.masked)
  }

  @Test func `curl command quotes the request`() throws {
    var request = try #require(try parse(Self.chrome).entries.first?.request)
    #expect(
      request.curlCommand == "curl -X POST --compressed 'https://h.example/a?token=s3cret-s3cret&page=2' "
        + "-H 'cookie: sid=s3cret-s3cret' -H 'content-type: application/json' -H 'accept-encoding: gzip' "
        + #"--data-raw '{"password":"hunter2hunter2","city":"it'\''s"}'"#)
    for url in ["-o/etc/passwd", "file:///etc/passwd", "", "data:,a"] {
      request.url = url
      #expect(request.curlCommand == nil, "\(url)")
    }
    request.url = "http://h.example"
    for method in ["", "GET\nX", "-o x", "a b"] {
      request.method = method
      #expect(request.curlCommand == nil, "\(method)")
    }
    request.method = "GET"
    request.headers = [HTTPField("@/etc/passwd", "a")]
    #expect(request.curlCommand == nil)
  }

  @Test func `curl changes neither path nor type`() throws {
    var request = try #require(try parse(Self.chrome).entries.first?.request)
    (request.url, request.headers, request.body) = ("https://h.example/a/../b", [], "x")
    let command = "curl -X POST --path-as-is https://h.example/a/../b -H Content-Type: --data-raw x"
    #expect(request.curlCommand == command)
  }
}
