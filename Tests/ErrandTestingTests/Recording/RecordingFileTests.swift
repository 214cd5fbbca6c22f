import Errand
import ErrandCache
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

struct RecordingFileTests {
  private let place = RecordingPlace()

  private var sample: Recording {
    get throws {
      var full = ScriptedAnswer.json(#"{"nick":"Ädä \u2028"}"#, status: 201)
      full.head.reason = "Made"
      full.head.version = .http2
      full.head.fields.append(HTTPField("X-Twice", "1"))
      full.head.fields.append(HTTPField("X-Twice", ""))
      full.trailers = ["X-Sum": "6: a"]
      full.informational = [ResponseHead(status: 103, fields: ["Link": "</a>"])]
      let binary = ScriptedAnswer(status: 200, body: Data([0xFF, 0xFE, 0, 1]))
      return Recording(
        [
          try recorded("https://h.example/a?x=%20&y", full, method: .post, body: "one\u{0}two"),
          try recorded("https://h.example/b", binary),
          try recorded("https://h.example/c", .failure(.reset, "it broke")),
          try recorded("https://h.example/d", .text("half").breakingOff(.truncated, "cut")),
          try recorded("https://h.example/e", .status(204), method: .put, body: ""),
        ], mask: RecordingMask(fields: ["X-A"], items: ["email"], paths: ["user.name", "a[0].b"], shown: ["key"]))
    }
  }

  @Test func `file survives a round trip`() throws {
    let sample = try sample
    try sample.save(to: place.path)
    let back = try Recording(contentsOf: place.path)
    #expect(back.mask == sample.mask)
    #expect(back.exchanges.count == 5)
    for (new, old) in zip(back.exchanges, sample.exchanges) {
      #expect(new.request.method == old.request.method)
      #expect(new.request.url == old.request.url)
      #expect(new.request.fields == old.request.fields)
      #expect(new.request.body == old.request.body)
      #expect(new.answer.body == old.answer.body)
      #expect(new.answer.trailers == old.answer.trailers)
      #expect(new.answer.informational == old.answer.informational)
      #expect(new.answer.failure == old.answer.failure)
      #expect(new.answer.breakage == old.answer.breakage)
      if old.answer.failure == nil { #expect(new.answer.head == old.answer.head) }
    }
    #expect(try back.serialized() == place.bytes)
  }

  @Test func `URL names a file`() async throws {
    let file = URL(filePath: place.path)
    try sample.save(to: file)
    #expect(try Recording(contentsOf: file).exchanges.count == 5)
    let recorder = RecordingTransport(ScriptedTransport(.text("a")))
    #expect(try await get("https://h.example/a", over: recorder) == "a")
    try recorder.save(to: file)
    #expect(try Recording(contentsOf: place.path).exchanges.count == 1)
  }

  @Test func `field values keep their bytes`() throws {
    let values = ["\u{301}a", "\u{301}", ": b", "c: \u{301}"]
    var answer = ScriptedAnswer.text("x")
    for value in values { answer.head.fields.append(HTTPField("X-V", value)) }
    try Recording([recorded("https://h.example/a", answer)]).save(to: place.path)
    let read = try Recording(contentsOf: place.path).exchanges[0].answer.head.fields.values(of: "X-V")
    #expect(read.map { Array($0.utf8) } == values.map { Array($0.utf8) })
  }

  @Test func `text bodies can be read`() throws {
    let text = String(decoding: try sample.serialized(), as: UTF8.self)
    #expect(text.contains(#""text" : "half""#))
    #expect(text.contains(#""base64" : "//4AAQ==""#))
    #expect(text.contains(#""url" : "https://h.example/a?x=%20&y""#))
    #expect(text.contains(#""version" : 1"#))
  }

  @Test func `short file is read`() throws {
    try place.write(
      #"""
      {"format": "errand-recording", "version": 1, "exchanges": [
        {"request": {"method": "GET", "url": "https://h.example/a"},
          "response": {"status": 200, "body": {"text": "{}"}}}]}
      """#)
    let recording = try Recording(contentsOf: place.path)
    #expect(recording.mask == RecordingMask())
    let exchange = try #require(recording.exchanges.first)
    #expect(exchange.request.fields.isEmpty && exchange.answer.head.fields.isEmpty)
    #expect(exchange.answer.head.version == .http1_1 && exchange.answer.body == Data("{}".utf8))
  }

  @Test(arguments: [
    ("", "damaged", "empty"),
    ("{", "damaged", "JSON"),
    ("[]", "damaged", "$"),
    (#"{"format":"har","version":1}"#, "damaged", #"its format is "har""#),
    (#"{"format":"errand-recording","version":"1"}"#, "damaged", "$.version"),
    (#"{"format":"errand-recording","version":7,"new":[]}"#, "version 7", "reads only versions up to 1"),
    (#"{"format":"errand-recording","version":1,"masked":{}}"#, "damaged", "exchanges"),
    (
      body(#"{"request":{"method":"GET","url":"/a","fields":[]},"failure":{"kind":"reset","text":""}}"#),
      "damaged", "$.exchanges[0].request.url"
    ),
    (body(#"{"request":{"method":"GET","url":"http://h/","fields":[]}}"#), "damaged", "a response, a failure, or both"),
    (answer(#"{"status":99999999999999999999,"fields":[]}"#), "damaged", "$.exchanges[0].response.status"),
    (answer(#"{"status":42,"fields":[]}"#), "damaged", "$.exchanges[0].response.status: a status must be a number"),
    (answer(#"{"status":200,"fields":["A: b","none"]}"#), "damaged", "$.exchanges[0].response.fields[1]"),
    (answer(#"{"status":200,"version":"HTTP/9","fields":[]}"#), "damaged", "$.exchanges[0].response.version"),
    (
      answer(#"{"status":200,"fields":[],"body":{"base64":"?"}}"#), "damaged",
      "response.body.base64: the value is not valid Base64"
    ),
    (answer(#"{"status":200,"fields":[],"body":{}}"#), "damaged", "$.exchanges[0].response.body"),
    (
      answer(#"{"status":200,"fields":[],"informational":[{"status":1,"fields":[]}]}"#), "damaged",
      "informational[0].status"
    ),
  ])
  func `error locates damage in the file`(_ text: String, _ kind: String, _ words: String) throws {
    try place.write(text)
    let error = #expect(throws: RecordingError.self) { try Recording(contentsOf: place.path) }
    let sentence = try #require(error).description
    #expect(sentence.contains(kind) && sentence.contains(words) && sentence.contains("calls.json"), "\(sentence)")
  }

  private static func body(_ exchange: String) -> String {
    #"{"format":"errand-recording","version":1,"masked":{},"exchanges":[\#(exchange)]}"#
  }

  private static func answer(_ response: String) -> String {
    body(#"{"request":{"method":"GET","url":"http://h/","fields":[]},"response":\#(response)}"#)
  }

  @Test func `truncated file is damaged`() throws {
    let whole = try sample.serialized()
    for length in stride(from: 0, to: whole.count - 1, by: 7) {
      #expect(throws: RecordingError.self) { try Recording(parsing: whole.prefix(length)) }
    }
  }

  @Test func `missing file suggests recording`() throws {
    let error = #expect(throws: RecordingError.self) { try Recording(contentsOf: place.path) }
    #expect(try #require(error).description.contains("Record it first"))
  }

  @Test func `unwritable path is reported`() throws {
    try place.write("I am no folder")
    let below = place.path + "/calls.json"
    let error = #expect(throws: RecordingError.self) { try sample.save(to: below) }
    guard case .unwritable(let path, let reason)? = error else { throw try #require(error) }
    #expect(path == below && !reason.isEmpty)
    #expect(try place.bytes == Data("I am no folder".utf8))
  }

  @Test func `file is replaced atomically`() throws {
    try place.write("old and whole")
    let reader = try #require(FileHandle(forReadingAtPath: place.path))
    try sample.save(to: place.path)
    #expect(try reader.readToEnd() == Data("old and whole".utf8), "the old file was overwritten in place")
    #expect(try Recording(contentsOf: place.path).exchanges.count == 5)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder + "/kept") == ["calls.json"])
  }

  @Test func `retry information survives a round trip`() throws {
    let refused = TransportFailure(.refused, "nobody there", isCertainlyNotSent: true)
    var answer = ScriptedAnswer()
    answer.failure = refused
    let recording = Recording([
      try recorded("https://h.example/a", answer), try recorded("https://h.example/b", .status(999)),
    ])
    try recording.save(to: place.path)
    let back = try Recording(contentsOf: place.path)
    #expect(back.exchanges[0].answer.failure?.isCertainlyNotSent == true)
    #expect(back.exchanges[1].answer.head.status == 999)
  }

  @Test(arguments: [("refused", true), ("reset", false)])
  func `kind replaces missing retry information`(kind: String, isNotSent: Bool) throws {
    try place.write(
      Self.body(#"{"request":{"method":"GET","url":"http://h/","fields":[]},"failure":{"kind":"\#(kind)","text":""}}"#))
    #expect(
      try Recording(contentsOf: place.path).exchanges[0].answer.failure?.isCertainlyNotSent == isNotSent)
  }

  @Test func `sent failure survives a round trip`() throws {
    let recording = Recording([
      try recorded("https://h.example/a", .failure(.offline, isCertainlyNotSent: false)),
      try recorded("https://h.example/b", .text("half").breakingOff(.tls)),
    ])
    let back = try Recording(parsing: recording.serialized())
    #expect(back.exchanges[0].answer.failure?.isCertainlyNotSent == false)
    #expect(back.exchanges[1].answer.breakage?.isCertainlyNotSent == false)
  }

  @Test func `edited body corrects Content-Length`() throws {
    var answer = ScriptedAnswer.text("a long one")
    answer.head.fields[.contentLength] = "10"
    try Recording([try recorded("https://h.example/a", answer)]).save(to: place.path)
    try place.write(String(decoding: try place.bytes, as: UTF8.self).replacing("a long one", with: "short"))
    let back = try Recording(contentsOf: place.path).exchanges[0].answer
    #expect(back.body == Data("short".utf8) && back.head.fields[.contentLength] == "5")
  }

  @Test func `encoded response keeps its length`() throws {
    var answer = ScriptedAnswer.text("what came was shorter")
    let fields: HTTPFields = ["Content-Encoding": "gzip", "Content-Length": "12", "Repr-Digest": "sha-256=:AAAA:"]
    answer.head.fields = fields
    try Recording([try recorded("https://h.example/a", answer)]).save(to: place.path)
    #expect(try Recording(contentsOf: place.path).exchanges[0].answer.head.fields == fields)
  }
}
