import Errand
import ErrandTesting
import Foundation
import Testing

/// Every kind of failure with a marker in every secret place. No printed text may contain the marker.
struct SecretTests {
  static let marker = "MARKER"
  static let encoded = Data("user:\(marker)".utf8).base64EncodedString()

  static func everything(_ value: Any) -> String {
    var text = "\(value)\n\(String(reflecting: value))\n"
    dump(value, to: &text)
    return text
  }

  @Test(arguments: SecretScene.all) func `failures show no secret`(scene: SecretScene) async {
    let watch = SecretWatch()
    let bench = ScriptedClient(
      {
        $0.headers = ["X-Api-Key": .secret(Self.marker), "Cookie": "sid=\(Self.marker)"]
        watch.attach(to: &$0)
        scene.change(&$0)
      }, answer: { try await scene.answer($0) })
    var request = Sending(
      method: .post, arguments: ["token": Self.marker, "plain": Self.marker], body: .text(Self.marker),
      credential: .basic(user: "user", password: Self.marker))
    scene.request(&request)
    let outcome = await bench.client.outcome(of: request, options: scene.options)
    #expect(outcome.error?.code == scene.code)
    #expect(scene.isSent == !bench.transport.requests.isEmpty)
    guard let error = outcome.error else { return }
    watch.note(error)
    watch.note(outcome)
    watch.expectNoSecret()
    #expect(watch.lines.all.last?.text.hasPrefix("failed: ") == true)
    #expect(watch.endings.count == 2)
  }

  /// One call waits at the server, so that a second one is refused and the first one can be cancelled.
  @Test func `full queue and cancel show no secret`() async {
    let watch = SecretWatch()
    let arrived = Latch()
    let bench = ScriptedClient(
      {
        $0.admission = AdmissionLimits(perHost: 1, total: 1)
        $0.admission.waiting = 0
        watch.attach(to: &$0)
      },
      answer: { _ in
        arrived.open()
        try await Latch().wait()
        return .text("never")
      })
    let request = Sending(
      method: .post, arguments: ["token": Self.marker], headers: ["X-Api-Key": .secret(Self.marker)],
      credential: .bearer(Self.marker))
    let ended = Latch()
    let call = bench.client.start(outcomeOf: request, on: .inPlace) { outcome in
      if let error = outcome.error { watch.note(error) }
      #expect(outcome.error?.code == .cancelled)
      ended.open()
    }
    await arrived.waitStubbornly()
    let refused = await bench.client.outcome(of: request)
    #expect(refused.error?.code == .queueFull)
    if let error = refused.error { watch.note(error) }
    call.cancel()
    await ended.waitStubbornly()
    watch.expectNoSecret()
  }

  struct Typed: Decodable, Sendable { let token: Int, note: Int }

  @Test func `decoding failures show no secret`() async {
    let long = String(repeating: Self.marker, count: 5)
    for body in [#"{"token":"MARKER","note":1}"#, #"{"token":1,"note":"\#(long)"}"#, "<\(Self.marker)"] {
      let error = await ScriptedClient(answers: [.json(body)]).failure(of: Ask<Typed>())
      #expect(error?.code == .decoding)
      let isMarkup = body.hasPrefix("<")  // the start of a proxy's page is shown on purpose
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

  @Test func `values do not show their secrets`() {
    let headers: RequestHeaders = ["X-Key": .secret(Self.marker)]
    let values: [Any] = [
      Credential.bearer(Self.marker), Credential.basic(user: "u", password: Self.marker),
      RequestCredential.bearer(Self.marker), RequestHeaders.FieldValue.secret(Self.marker), headers,
      HTTPField("X-Key", Self.marker, isSecret: true), HTTPFields([HTTPField("Cookie", Self.marker)]),
      FixedCredential(.bearer(Self.marker)), CallOptions(headers: headers),
    ]
    for value in values { #expect(!Self.everything(value).contains(Self.marker)) }
  }

  @Test func `log shows the hops of a call`() async throws {
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
