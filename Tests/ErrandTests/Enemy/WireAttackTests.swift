import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Servers that truncate, delay, flood and disconnect, from the view of a client.
struct WireAttackTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: LoopbackAnswer
    let kind: TransportFailure.Kind
  }

  static let faults = [
    Fault(testDescription: "cut body", answer: .ok("hello").cut(after: 2), kind: .truncated),
    Fault(testDescription: "chunks without end", answer: .chunked(["a", "b"], isComplete: false), kind: .truncated),
    Fault(testDescription: "reset body", answer: .generated(count: 500_000).reset(after: 1000), kind: .reset),
    Fault(testDescription: "closed at once", answer: .closeBeforeAnswer, kind: .closedBeforeResponse),
    Fault(
      testDescription: "huge head", answer: .ok("x").setting("X-Huge", to: String(repeating: "x", count: 1 << 20)),
      kind: .tooLarge),
    Fault(testDescription: "over 32 MiB", answer: .generated(count: (32 << 20) + 1), kind: .tooLarge),
    Fault(testDescription: "endless", answer: .endless(), kind: .tooLarge),
    Fault(testDescription: "endless chunks", answer: .endless(chunked: true), kind: .tooLarge),
    Fault(
      testDescription: "cut gzip", answer: .data([0x1F, 0x8B, 8]).setting("Content-Encoding", to: "gzip"),
      kind: .undecodableContent),
  ]

  @Test(arguments: faults) func `fault has its kind and next call succeeds`(fault: Fault) async throws {
    let server = try LoopbackServer { $0.path == "/next" ? .ok("next") : fault.answer }
    let client = APIClient(baseURL: server.url)
    let outcome = await client.outcome(of: Sending())
    #expect(outcome.error?.transportKind == fault.kind, "\(outcome.error.map { "\($0)" } ?? "success")")
    #expect(outcome.error?.request?.url.path == "/p" && outcome.metrics.attempts == 1)
    #expect(try await client.send(Ask<String>(path: "/next")) == "next")
  }

  @Test func `response of exactly 32 MiB is accepted`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 32 << 20) }
    #expect(try await APIClient(baseURL: server.url).send(Sending()).count == 32 << 20)
  }

  @Test(arguments: [LoopbackAnswer.Part.everything, .body])
  func `slow response ends at the deadline`(part: LoopbackAnswer.Part) async throws {
    let server = try LoopbackServer { _ in
      .ok(String(repeating: "x", count: 10_000)).dripped(of: part, every: .milliseconds(5))
    }
    let client = APIClient(baseURL: server.url)
    let start = ContinuousClock.now
    let outcome = await client.outcome(of: Sending(), options: .deadline(.milliseconds(150)))
    #expect(outcome.error?.stage == .deadline)
    #expect(start.duration(to: .now) >= .milliseconds(150))
    #expect(client.running.isEmpty)
    #expect(await eventually { client.admission == (0, 0) })
  }

  @Test func `stopping server ends its calls`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok("late").held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let kinds = try await withThrowingTaskGroup(of: TransportFailure.Kind?.self) { group in
      for number in 0..<20 {
        group.addTask { await client.outcome(of: Sending(path: "/\(number)")).error?.transportKind }
      }
      try await gate.reached(times: 20)
      server.stop()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(kinds.count == 20)
    #expect(kinds.allSatisfy { [.closedBeforeResponse, .reset].contains($0) }, "\(kinds)")
    #expect(await client.outcome(of: Sending()).error?.transportKind == .refused)
    #expect(client.running.isEmpty && client.admission == (0, 0))
  }

  @Test func `huge redirect page is skipped`() async throws {
    let server = try LoopbackServer { request in
      guard request.path == "/p" else { return .ok("there") }
      return LoopbackAnswer([
        .head(status: 302, headers: ["Location": "/there", "Content-Length": "\(40 << 20)"]),
        .body([UInt8](repeating: 0x61, count: 1 << 20), times: 40),
      ])
    }
    #expect(try await APIClient(baseURL: server.url).send(Ask<String>()) == "there")
  }

  @Test(arguments: [
    "", "{", "[", "\"", "nul", "{\"a\":}", "[1,]", "\u{FEFF}", "\0", "{}{}", "1e999", "NaN",
    String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 50_000),
    "\"" + String(repeating: "\\ud800", count: 3) + "\"",
  ])
  func `hostile JSON fails validation and decoding`(body: String) async throws {
    let server = try LoopbackServer { _ in .json(body) }
    let client = APIClient(baseURL: server.url)
    let shaped = await client.outcome(of: Ask<Nothing>(shape: ["a": .number]))
    #expect(shaped.error?.stage == .validate, "\(shaped.error.map { "\($0)" } ?? "success")")
    struct Body: Decodable, Sendable { let a: Int }
    #expect(await client.outcome(of: Ask<Body>()).error?.stage == .decode)
    #expect((shaped.error?.message.utf8.count ?? 0) < 1000)
  }

  @Test func `server's control characters stay off the log`() async throws {
    let lines = Recorded<LogLine>()
    let server = try LoopbackServer { request in
      request.path == "/json"
        ? .json(#"{"code":7,"message":"a\nb\u001b[2J"}"#) : .status(404, body: "x").reason("No\u{1B}[2J\u{7}pe")
    }
    let client = APIClient(baseURL: server.url)
    client.configure { $0.log = { lines.append($0) } }
    let errors = [
      await client.outcome(of: Sending()).error,
      await client.outcome(of: Ask<Nothing>(path: "/json", envelope: Envelope(code: "code", message: "message"))).error,
    ]
    let shown = errors.compactMap { $0?.description } + errors.compactMap { $0?.message } + lines.all.map(\.description)
    #expect(errors.compactMap(\.self).count == 2)
    for text in shown {
      #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "\(text.debugDescription)")
    }
  }

  static let hostileTexts = [
    String(repeating: "x", count: 5_000), "e" + String(repeating: "\u{301}", count: 5_000),
    String(repeating: "\u{202E}", count: 5_000), "a\u{1B}[2J\u{85}b",
  ]

  @Test(arguments: hostileTexts) func `messages bound the server's text`(text: String) async throws {
    let code = String(decoding: try JSONEncoder().encode(["code": text, "message": text]), as: UTF8.self)
    var reasoned = ScriptedAnswer.json(code, status: 404)
    reasoned.head.reason = text
    let typed = ScriptedAnswer(fields: HTTPFields([HTTPField(.contentType, text)]), body: Data("x".utf8))
    let charset = HTTPFields([HTTPField(.contentType, "text/plain; charset=\"\(text)\"")])
    let bench = ScriptedClient(answers: [
      reasoned, .json(code), typed, ScriptedAnswer(fields: charset, body: Data("x".utf8)),
    ])
    let enveloped = Ask<String>(envelope: Envelope(code: "code", message: "message"))
    let errors = [
      await bench.failure(of: enveloped), await bench.failure(of: enveloped),
      await bench.failure(of: Ask<String>(contentTypes: ["application/json"])), await bench.failure(of: Ask<String>()),
    ].compactMap(\.self)
    #expect(errors.map(\.code) == [.status, .business, .contentType, .decoding])
    for error in errors {
      #expect(error.message.unicodeScalars.count < 1_100)
      #expect(!error.message.unicodeScalars.contains { Redaction.isHidden($0) }, "\(error.message.debugDescription)")
    }
    #expect(errors.first?.businessCode == text && errors.dropFirst().first?.businessCode == text)
  }
}
