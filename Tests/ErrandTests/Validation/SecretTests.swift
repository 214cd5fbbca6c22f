import Errand
import ErrandTesting
import Foundation
import Testing

/// Every kind of failure with a marker in every secret place; nothing that is printed may hold it.
@Suite struct SecretTests {
  static let marker = "MARKER"
  static let encoded = Data("user:\(marker)".utf8).base64EncodedString()

  struct Leak: Error {}
  struct Account: Encodable, Sendable { let password: String, rate: Double }

  /// A failure to provoke: what the client is told besides, what is asked, and what is answered.
  struct Scene: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: APIError.Code
    var change: @Sendable (inout ClientConfiguration) -> Void = { _ in }
    var request: @Sendable (inout Sending) -> Void = { _ in }
    var answer: @Sendable (HTTPRequest) throws -> ScriptedAnswer = { _ in .text("ok") }
  }

  static let scenes: [Scene] = [
    Scene(
      testDescription: "base with user info", code: .invalidURL,
      change: { $0.environment.baseURL = "http://u:\(marker)@h" }),
    Scene(
      testDescription: "broken base", code: .invalidURL,
      change: { $0.environment.baseURL = "http://u:\(marker)@h:0/?k=\(marker)" }),
    Scene(
      testDescription: "absolute path with user info", code: .invalidURL,
      request: { $0.path = RequestPath("http://u:" + marker + "@h/?k=" + marker) }),
    Scene(
      testDescription: "other scheme", code: .invalidURL,
      request: { $0.path = RequestPath("ftp://u:" + marker + "@h/?k=" + marker) }),
    Scene(
      testDescription: "line break in path", code: .invalidPath, request: { $0.path = RequestPath("/a\n?k=" + marker) }),
    Scene(
      testDescription: "dot segment", code: .invalidPath,
      request: { $0.path = "/a/\("..")/b?k=\(marker)" }),
    Scene(testDescription: "method", code: .invalidMethod, request: { $0.method = "GE T" }),
    Scene(
      testDescription: "header value", code: .invalidHeader, request: { $0.headers = ["X-Key": .secret(marker + "\n")] }
    ),
    Scene(testDescription: "framing", code: .invalidHeader, request: { $0.headers = ["Host": .secret(marker)] }),
    Scene(
      testDescription: "credential", code: .invalidHeader, request: { $0.credential = .bearer(marker + "\r\n") }),
    Scene(testDescription: "argument", code: .invalidArgument, request: { $0.arguments["n"] = Double.nan }),
    Scene(
      testDescription: "body", code: .invalidBody,
      request: { $0.body = .json(Account(password: marker, rate: .nan)) }),
    Scene(testDescription: "check", code: .parameter, request: { $0.checking = { throw Leak() } }),
    Scene(
      testDescription: "interceptor", code: .interceptor,
      change: { $0.interceptors = [Around { _, _, _ in throw Leak() }] }),
    Scene(testDescription: "transport", code: APIError.Code(rawValue: "reset"), answer: { _ in .failure(.reset) }),
    Scene(testDescription: "transport's error", code: APIError.Code(rawValue: "other"), answer: { _ in throw Leak() }),
    Scene(testDescription: "status", code: .status, answer: { _ in .text("no", status: 500) }),
    Scene(
      testDescription: "redirect away", code: .redirectRefused,
      answer: { _ in .redirect(to: "http://u:\(marker)@o/?k=\(marker)", status: 307) }),
    Scene(
      testDescription: "redirect to nowhere", code: .invalidRedirect,
      answer: { _ in .redirect(to: "ftp://u:\(marker)@o/?k=\(marker)") }),
    Scene(
      testDescription: "redirect in a circle", code: .redirectLoop,
      answer: { _ in .redirect(to: "?k=\(marker)", status: 307) }),
    Scene(
      testDescription: "content type", code: .contentType, request: { $0.contentTypes = ["application/json"] }),
    Scene(
      testDescription: "no JSON", code: .notJSON, request: { $0.shape = [:] }, answer: { _ in .text("<\(marker)>") }),
    Scene(
      testDescription: "shape", code: .shape, request: { $0.shape = ["token": .number] },
      answer: { _ in .json(#"{"token":"\#(marker)"}"#) }),
    Scene(
      testDescription: "business", code: .business, request: { $0.envelope = Envelope(code: "code") },
      answer: { _ in .json(#"{"code":5,"token":"\#(marker)"}"#) }),
  ]

  static func everything(_ value: Any) -> String {
    var text = "\(value)\n\(String(reflecting: value))\n"
    dump(value, to: &text)
    return text
  }

  @Test(arguments: scenes) func `failures show no secret`(scene: Scene) async {
    let lines = Recorded<LogLine>()
    let bench = ScriptedClient(
      {
        $0.headers = ["X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)"]
        $0.log = { lines.append($0) }
        scene.change(&$0)
      }, answer: { try scene.answer($0) })
    var request = Sending(
      method: .post, arguments: ["token": Self.marker, "plain": Self.marker], body: .text(Self.marker),
      credential: .basic(user: "user", password: Self.marker))
    scene.request(&request)
    let outcome = await bench.client.outcome(of: request)
    #expect(outcome.error?.code == scene.code)
    guard let error = outcome.error else { return }
    var shown = Self.everything(error) + error.message + error.localizedDescription + (error as NSError).description
    shown += error.request.map(Self.everything) ?? ""
    shown += error.response.map { Self.everything($0.fields) + "\($0)" } ?? ""
    shown += lines.all.map(Self.everything).joined()
    #expect(!shown.contains(Self.marker))
    #expect(!shown.contains(Self.encoded))
    #expect(lines.all.last?.text.hasPrefix("failed: ") == true)
  }

  struct Typed: Decodable, Sendable { let token: Int, note: Int }

  @Test func `decoding failures show no secret`() async {
    let long = String(repeating: Self.marker, count: 5)
    for body in [#"{"token":"MARKER","note":1}"#, #"{"token":1,"note":"\#(long)"}"#, "<\(Self.marker)"] {
      let error = await ScriptedClient(answers: [.json(body)]).failure(of: Ask<Typed>())
      #expect(error?.code == .decoding)
      let isMarkup = body.hasPrefix("<")  // the head of a proxy's page is shown on purpose
      if let error, !isMarkup { #expect(!(Self.everything(error) + error.message).contains(Self.marker)) }
    }
  }

  @Test func `success shows no secret either`() async throws {
    let lines = Recorded<LogLine>()
    let bench = ScriptedClient(
      {
        $0.headers = ["X-Api-Key": .secret(Self.marker)]
        $0.log = { lines.append($0) }
      },
      answer: { _ in
        ScriptedAnswer(status: 200, fields: ["Set-Cookie": Self.marker], body: Data("ok".utf8))
      })
    let request = Sending(
      arguments: ["token": Self.marker], credential: .basic(user: "user", password: Self.marker))
    let response = try await bench.client.response(request)
    let sent = try #require(bench.transport.requests.first)
    #expect(sent.fields["X-Api-Key"] == Self.marker && sent.url.string.contains(Self.marker))
    let shown = Self.everything(response) + Self.everything(sent) + lines.all.map(Self.everything).joined()
    #expect(!shown.contains(Self.marker) && !shown.contains(Self.encoded))
    #expect(shown.contains("http://h.example/p?token=•••"))
  }

  @Test func `secret values show no secret`() {
    let headers: RequestHeaders = ["X-Key": .secret(Self.marker)]
    let values: [Any] = [
      Credential.bearer(Self.marker), Credential.basic(user: "u", password: Self.marker),
      RequestCredential.bearer(Self.marker), RequestHeaders.FieldValue.secret(Self.marker), headers,
      HTTPField("X-Key", Self.marker, isSecret: true), HTTPFields([HTTPField("Cookie", Self.marker)]),
      FixedCredential(.bearer(Self.marker)), CallOptions(headers: headers),
    ]
    for value in values { #expect(!Self.everything(value).contains(Self.marker)) }
  }

  @Test func `log tells the way of a call`() async throws {
    let lines = Recorded<LogLine>()
    let bench = ScriptedClient(answers: [.redirect(to: "/b"), .text("ok")]) { $0.log = { lines.append($0) } }
    _ = try await bench.client.send(Sending())
    let texts = lines.all.map(\.text)
    #expect(
      texts.contains("sending GET http://h.example/p") && texts.contains("302 redirects to GET http://h.example/b"))
    #expect(Set(lines.all.map(\.call)).count == 1)
    #expect(lines.all.allSatisfy { !$0.text.contains { $0.isNewline } })
  }
}
