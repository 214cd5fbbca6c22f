import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

@testable import ErrandTelemetry

/// Secrets are put into every part of a request, a response and an error. No span, measurement or exported byte may
/// contain one.
struct SecretTests {
  private struct Secretive: APIRequest {
    typealias Response = Data

    var method: HTTPMethod { .post }
    var path: Path { "/notes/\("c4n4ry-path", name: "noteID")" }
    var arguments: Arguments {
      ["token": "c4n4ry-token", "sig": "c4n4ry-sig", "X-Amz-Signature": "c4n4ry-amz", "note": "c4n4ry-note"]
    }
    var formats: Formats { Formats(arguments: .query) }
    var body: RequestBody? { .text("c4n4ry-body") }
    var headers: RequestHeaders { ["Authorization": "Bearer c4n4ry-bearer", "X-Api-Key": .secret("c4n4ry-key")] }
    var delivery: Delivery<Response> { Delivery(accessories: []) }
  }

  private struct Leaky: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      _ = try await next(request)
      throw APIError(.interceptor, .interceptor, "c4n4ry-error", cause: TransportFailure(.other, "c4n4ry-cause"))
    }
  }

  private func exported(
    _ query: Telemetry.QueryDetail, interceptors: [any Interceptor] = [],
    _ handler: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer
  ) async throws -> (texts: [String], spans: [Span]) {
    let collector = try LoopbackServer { _ in .json("{}") }
    let collected = Collected()
    let exporter = OTLPExporter(endpoint: collector.url, headers: ["Api-Key": .secret("c4n4ry-collector")])
    struct Both: SpanExporter {
      let all: [any SpanExporter]
      func export(_ span: Span) { for exporter in all { exporter.export(span) } }
    }
    let fixture = try TelemetryFixture(
      handler,
      telemetry: { telemetry in
        telemetry.spans = Both(all: [collected, exporter])
        telemetry.metrics = exporter
        telemetry.query = query
        telemetry.recordsUserAgent = true
      },
      client: { configuration in
        configuration.interceptors.calls = interceptors
        configuration.cookies = .jar(CookieJar())
      })
    _ = await fixture.client.outcome(of: Secretive())
    await exporter.flush()
    let texts = collector.requests.map(\.bodyText) + collected.spans.map { "\($0)" }
    #expect(texts.count >= 3)
    return (texts, collected.spans)
  }

  /// The path is recorded in `url.full`, as the conventions demand, and nowhere else.
  private func leaks(in texts: [String]) -> [String] {
    texts.filter { $0.replacing("/notes/c4n4ry-path", with: "").contains("c4n4ry") }
  }

  @Test func `answered call shows no secret`() async throws {
    let (texts, spans) = try await exported(.names) { _ in
      .status(200, fields: ["Set-Cookie": "session=c4n4ry-cookie", "ETag": "\"c4n4ry-tag\""], body: "c4n4ry-response")
    }
    #expect(leaks(in: texts) == [])
    #expect(spans.map(\.name) == ["POST /notes/{noteID}", "Secretive"])
  }

  @Test func `redirect and rejection show no secret`() async throws {
    let (texts, spans) = try await exported(.names) { request in
      request.path == "/login"
        ? .status(403, body: "c4n4ry-problem")
        : .redirect(to: "/login?code=c4n4ry-code&c4n4ry-flag", status: 303)
    }
    #expect(leaks(in: texts) == [])
    #expect(spans.count == 3)
  }

  @Test func `errors show no secret`() async throws {
    let (texts, spans) = try await exported(.names, interceptors: [Leaky()]) { _ in .ok("x") }
    #expect(leaks(in: texts) == [])
    #expect(spans.last?.attributes["error.type"] == "interceptor")
  }

  @Test func `shown values exclude those with a secret name`() async throws {
    let (texts, _) = try await exported(.values) { _ in .ok("x") }
    #expect(leaks(in: texts.map { $0.replacing("note=c4n4ry-note", with: "") }) == [])
    #expect(texts.contains { $0.contains("note=c4n4ry-note") })
  }

  @Test func `failure of the connection shows no secret`() async throws {
    let (texts, _) = try await exported(.names) { _ in LoopbackAnswer([.reset]) }
    #expect(leaks(in: texts) == [])
  }
}
