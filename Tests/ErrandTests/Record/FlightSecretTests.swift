import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// A marker in every secret place, which no output of the record may show.
struct FlightSecretTests {
  private static let marker = SecretTests.marker

  /// Everything that a record can show, as text.
  private func outputs(of record: FlightRecord) -> String {
    let calls = record.calls.map { call in
      SecretTests.everything(call) + SecretTests.everything(call.outcome) + SecretTests.everything(call.decisions)
        + SecretTests.everything(call.exchanges) + (call.url ?? "") + call.why
        + call.exchanges.map { exchange in
          let fields = exchange.requestHeaders + exchange.responseHeaders
          return fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n") + exchange.url
            + (exchange.requestBody ?? "") + (exchange.responseBody ?? "") + (exchange.failure ?? "")
            + SecretTests.everything(exchange.metrics)
        }.joined()
    }
    return calls.joined() + String(decoding: record.har(), as: UTF8.self)
  }

  private func expectSilence(_ record: FlightRecord, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(!record.calls.isEmpty, sourceLocation: sourceLocation)
    let text = outputs(of: record)
    #expect(!text.contains(Self.marker), "\(text)", sourceLocation: sourceLocation)
    #expect(!text.contains(SecretTests.encoded), "\(text)", sourceLocation: sourceLocation)
  }

  @Test(arguments: SecretScene.all, [0, 10_000])
  func `failures leave no secret in the record`(scene: SecretScene, bodyLimit: Int) async {
    let bench = ScriptedClient(
      {
        $0.headers = ["X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)"]
        $0.record = .ring(calls: 5, bodyLimit: bodyLimit)
        scene.change(&$0)
      }, answer: { try await scene.answer($0) })
    var request = Sending(
      method: .post, arguments: ["token": Self.marker, "plain": Self.marker], body: .text(Self.marker),
      credential: .basic(user: "user", password: Self.marker))
    scene.request(&request)
    let outcome = await bench.client.outcome(of: request, options: scene.options)
    #expect(outcome.error?.code == scene.code)
    expectSilence(bench.client.flightRecord)
  }

  @Test func `secret that is only in the request body is masked`() async throws {
    let secret = "hunter2hunter2"
    let server = try LoopbackServer { _ in
      .status(
        400, headers: ["X-Reason": "\(secret) is too weak", "Content-Type": "application/json"],
        body: "{\"message\": \"\(secret) is too weak\"}")
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 5, bodyLimit: 1_000)
    configuration.formats.arguments = .jsonByMethod
    let client = APIClient(configuration)
    let request = Sending(method: .post, arguments: ["password": secret])
    #expect(await client.outcome(of: request).error?.status == 400)
    #expect(!outputs(of: client.flightRecord).contains(secret))
    #expect(outputs(of: client.flightRecord).contains("is too weak"))
  }

  @Test func `percent-encoded secret of a body is masked`() async throws {
    let bench = ScriptedClient({ $0.record = .ring(calls: 5, detail: .addresses) }) { request in
      request.url.path == "/login" ? .redirect(to: "/again?text=open%20sesame%2fopen", status: 303) : .status(200)
    }
    let body = RequestBody.json(JSONValue.object(["password": "open sesame/open"]))
    _ = try await bench.client.send(Sending(path: "/login", method: .post, body: body))
    #expect(bench.transport.requests.last?.url.query?.contains("sesame") == true)
    let call = try #require(bench.client.flightRecord.calls.first)
    #expect(call.exchanges.last?.url == "http://h.example/again?text=•••")
    #expect(!outputs(of: bench.client.flightRecord).contains("sesame"))
  }

  private static let json = "application/json"
  private static let form = "application/x-www-form-urlencoded"
  private static let secret = "hunter2hunter2"
  private static let reply = "{\"message\": \"\(secret) is too weak\"}"

  /// The exchange of a call whose server repeats the secret of the request body, and all outputs of the record. In the
  /// request body, `LONG` stands for a long text.
  private func echoed(
    _ text: String, _ type: String, isCompressed: Bool = false, bodyLimit: Int = 1_000
  ) async throws -> (exchange: FlightExchange, outputs: String) {
    let bench = ScriptedClient({ $0.record = .ring(calls: 5, bodyLimit: bodyLimit) }) { _ in
      var answer = ScriptedAnswer.json(
        Self.reply, status: 400, fields: ["X-Reason": "\(Self.secret) is too weak", "Retry-After": "7"])
      answer.head.reason = "\(Self.secret) is too weak"
      return answer
    }
    let text = text.replacing("LONG", with: String(repeating: "x", count: 20_000))
    let body = RequestBody.bytes(Data(text.utf8), type: type)
    let request = Sending(method: .post, body: isCompressed ? body.compressed() : body)
    #expect(await bench.client.outcome(of: request).error?.status == 400)
    let exchange = try #require(bench.client.flightRecord.calls.first?.exchanges.first)
    return (exchange, outputs(of: bench.client.flightRecord))
  }

  @Test(
    arguments: [
      ("{\"password\": \"\(secret)\", \"note\": \"LONG\"}", json, false),
      ("{\"password\": \"\(secret)\"}", json, true),
      ("{\"password\": \"\(secret)\", \"note\": \"LONG\"}", json, true),
      ("{\"password\": \"\(secret)\"", json, false),
      ("password=\(secret)&note=LONG", form, false), ("password=\(secret)", form, true),
    ] as [(String, String, Bool)])
  func `responses are hidden if a body cannot be searched`(
    text: String, type: String, isCompressed: Bool
  ) async throws {
    let (exchange, outputs) = try await echoed(text, type, isCompressed: isCompressed)
    #expect(!outputs.contains(Self.secret), "\(outputs)")
    #expect(exchange.responseBody == "••• \(Self.reply.utf8.count) bytes")
    let shown = exchange.responseHeaders.map { "\($0.name): \($0.value)" }
    #expect(Set(shown) == ["X-Reason: •••", "Retry-After: 7", "Content-Type: application/json"])
  }

  @Test(
    arguments: [
      ("{\"password\": \"\(secret)\", \"note\": \"LONG\"}", json), ("password=\(secret)&note=LONG", form),
    ] as [(String, String)])
  func `body that is recorded is searched`(text: String, type: String) async throws {
    let (exchange, outputs) = try await echoed(text, type, bodyLimit: 100_000)
    #expect(!outputs.contains(Self.secret), "\(outputs)")
    #expect(exchange.responseBody == #"{"message":"••• is too weak"}"#)
    #expect(exchange.responseHeaders.contains { $0.name == "X-Reason" && $0.value == "••• is too weak" })
  }

  @Test func `long body of another type hides no response`() async throws {
    let (exchange, outputs) = try await echoed("LONG", "text/plain")
    #expect(exchange.responseBody == #"{"message":"hunter2hunter2 is too weak"}"#)
    #expect(outputs.contains("X-Reason: hunter2hunter2 is too weak"))
  }

  @Test(arguments: [FlightRecording.Detail.masked, .addresses])
  func `success leaves no secret in the record`(detail: FlightRecording.Detail) async throws {
    let server = try LoopbackServer { request in
      let headers: LoopbackHeaders = [
        "Set-Cookie": "sid=\(Self.marker)", "Content-Type": "application/json", "X-Echo": Self.marker,
        "Location": "http://user:\(Self.marker)@h.example/?token=\(Self.marker)",
      ]
      return .status(200, headers: headers, body: "{\"token\": \"\(Self.marker)\", \"name\": \"Ada\"}")
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 5, detail: detail, bodyLimit: 1_000)
    configuration.headers = ["X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)"]
    let client = APIClient(configuration)
    let body = RequestBody.json(JSONValue.object(["password": .string(Self.marker), "city": "Paris"]))
    let request = Sending(
      path: RequestPath(stringLiteral: "/a?token=\(Self.marker)&page=2"), method: .post, body: body,
      credential: .basic(user: "user", password: Self.marker))
    _ = try await client.send(request)
    #expect(server.requests.first?.bodyText.contains(Self.marker) == true)
    expectSilence(client.flightRecord)
    let text = outputs(of: client.flightRecord)
    #expect(text.contains("Paris") && text.contains("Ada"), "only secrets are masked")
    #expect(text.contains("page=2") == (detail == .addresses))
  }

  @Test(arguments: [FlightRecording.Detail.masked, .addresses])
  func `secret that only its name reveals is masked`(detail: FlightRecording.Detail) async throws {
    let link = "https://s3.example/f?X-Amz-Signature=\(Self.marker)&page=2"
    let server = try LoopbackServer { _ in
      let headers: LoopbackHeaders = [
        "X-Subject-Token": Self.marker, "X-Download-Url": link, "Content-Type": "application/json",
        "X-Echo": "is \(Self.marker)",
      ]
      let body = "{\"file\": \"\(link)\", \"pass\": \"\(Self.marker)\", \"code\": 0, \"echo\": \"\(Self.marker)\"}"
      return .status(200, headers: headers, body: body)
    }
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.record = .ring(calls: 5, detail: detail, bodyLimit: 1_000)
    configuration.headers = ["X-Auth-Token": "\(Self.marker)", "X-Return-Url": "\(link)"]
    let client = APIClient(configuration)
    let body = RequestBody.json(
      JSONValue.object([
        "code": .string(Self.marker), "code_verifier": .string(Self.marker), "client_assertion": .string(Self.marker),
        "callback": .string(link),
      ]))
    _ = try await client.send(Sending(method: .post, body: body), options: .tag("of \(Self.marker)"))
    expectSilence(client.flightRecord)
    let text = outputs(of: client.flightRecord)
    #expect(text.contains(#"\"code\":0"#), "a number is a business code")
    #expect(text.contains("X-Amz-Signature=•••&page=2") && text.contains("of •••"))
  }

  @Test(arguments: ["session_token=abc?", "session_token=abc#", "x=/y?session_token=a?b?"])
  func `secret value extends to the end of its item`(item: String) async throws {
    let bench = ScriptedClient({ $0.record = .ring(calls: 5, detail: .addresses) }) { _ in
      ScriptedAnswer(status: 200, fields: ["X-Link": "https://h.example/cb?\(item)\(Self.marker)&page=2"])
    }
    _ = try await bench.client.send(Sending(path: RequestPath(stringLiteral: "/cb?\(item)\(Self.marker)&page=2")))
    expectSilence(bench.client.flightRecord)
    #expect(outputs(of: bench.client.flightRecord).contains("session_token=•••&page=2"))
  }

  @Test func `highest detail shows everything`() async throws {
    let bench = ScriptedClient({ $0.record = .ring(calls: 5, detail: .everything, bodyLimit: 1_000) })
    _ = try await bench.client.send(
      Sending(method: .post, body: .text(Self.marker), credential: .bearer("token-of-ada")))
    let text = String(decoding: bench.client.flightRecord.har(), as: UTF8.self)
    #expect(text.contains(Self.marker) && text.contains("Bearer token-of-ada"))
  }

  @Test func `body above the limit is only counted`() async throws {
    let bench = ScriptedClient({ $0.record = .ring(calls: 5, bodyLimit: 10) })
    _ = try await bench.client.send(
      Sending(method: .post, body: .json(JSONValue.object(["password": .string(Self.marker)]))))
    let exchange = try #require(bench.client.flightRecord.calls.first?.exchanges.first)
    #expect(exchange.requestBody?.hasSuffix(" bytes") == true)
  }
}
