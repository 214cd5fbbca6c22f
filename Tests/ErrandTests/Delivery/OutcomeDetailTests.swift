import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

struct OutcomeDetailTests {
  private struct Plain: APIRequest {
    var method = HTTPMethod.get
    var body: RequestBody?
    var path: Path { "/a" }
  }

  private func client(_ transport: ScriptedTransport, _ change: (inout ClientConfiguration) -> Void = { _ in })
    -> APIClient
  {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    change(&configuration)
    return APIClient(configuration)
  }

  @Test func `response contains the sent request`() async throws {
    let client = client(ScriptedTransport(.redirect(to: "/b"), .text("x"))) {
      $0.credentials = FixedCredential(.bearer("marker"))
    }
    let answer = try await client.response(Plain())
    #expect(answer.request.url.path == "/b")
    #expect(answer.request.fields.contains(.authorization))
    #expect(!answer.request.curlCommand().contains("marker"))
  }

  @Test func `deadline error says its length`() async {
    let clock = ManualClock()
    let latch = Latch()
    let client = client(
      ScriptedTransport { _ in
        try await latch.wait()
        return .text("late")
      }
    ) { $0.timers = clock }
    async let outcome = client.outcome(of: Plain(), options: .deadline(.milliseconds(250)))
    await latch.reached()
    clock.advance(by: .milliseconds(250))
    let error = await outcome.error
    #expect(error?.stage == .deadline)
    #expect(error?.message.contains("time-out of 0.25 seconds") == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [HTTPMethod.head, "TRACE"])
  func `HEAD and TRACE refuse a body`(method: HTTPMethod) async {
    let transport = ScriptedTransport()
    let error = await client(transport).outcome(of: Plain(method: method, body: .text("x"))).error
    #expect(error?.code == .invalidBody)
    #expect(error?.message == "A \(method) request carries no body; remove the body or use another method.")
    #expect(transport.requests.isEmpty)
  }

  @Test func `error of a sink keeps its kind`() async {
    struct Full: Error {}
    struct FullSink: BodySink {
      func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
      func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { throw Full() }
      func end() {}
    }
    let error = await client(ScriptedTransport(.text("x")))
      .outcome(of: Plain(), options: CallOptions(bodySink: FullSink())).error
    #expect(error?.transportKind == .sink)
    #expect(error?.cause is Full)
  }

  @Test func `sink and shape exclude each other`() async {
    struct Shaped: APIRequest {
      var path: Path { "/a" }
      var validation: ResponseValidation { ResponseValidation(shape: [.integer]) }
    }
    struct NullSink: BodySink {
      func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
      func write(_ piece: UnsafeRawBufferPointer) -> Bool { true }
      func end() {}
    }
    let transport = ScriptedTransport(.json("[1]"))
    let error = await client(transport).outcome(of: Shaped(), options: CallOptions(bodySink: NullSink())).error
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("body sink") == true)
    #expect(transport.requests.isEmpty)
  }

  @Test func `exchange left by an interceptor ends`() async throws {
    struct Impatient: Interceptor {
      func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
        Task { try await next(request) }
        await latch.reached()
        return HTTPResponse(head: ResponseHead(status: 200), body: Data("own".utf8), url: request.url)
      }
      let latch: Latch
    }
    let latch = Latch()
    let ended = Latch()
    let transport = ScriptedTransport { _ in
      do {
        try await latch.wait()
      } catch {
        ended.open()
        throw error
      }
      return .text("late")
    }
    let client = client(transport) { $0.interceptors.calls = [Impatient(latch: latch)] }
    #expect(try await client.send(Plain()) == Data("own".utf8))
    try await ended.wait()
    #expect(client.running.isEmpty)
  }

  @Test func `signature stays at its origin`() async throws {
    let transport = ScriptedTransport(.redirect(to: "/b"), .redirect(to: "http://other.example/c"), .text("x"))
    let client = client(transport) {
      $0.interceptors.exchanges = [Signing { $0.fields["X-Signature"] = "signed \($0.url.path)" }]
    }
    _ = try await client.send(Plain())
    #expect(transport.requests.map { $0.fields["X-Signature"] } == ["signed /a", "signed /b", nil])
  }

  @Test func `duplicate name is refused in JSON`() async {
    struct Twice: APIRequest {
      var path: Path { "/a" }
      var method: HTTPMethod { .post }
      var formats: Formats { Formats(arguments: .json) }
      var arguments: Arguments { ["n": 1, "n": 2] }
    }
    let error = await client(ScriptedTransport()).outcome(of: Twice()).error
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("\"n\"") == true)
  }
}
