import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// A kept connection that closes during a request, without a retry policy.
struct KeptConnectionTests {
  private struct Write: APIRequest {
    typealias Response = String
    var method = HTTPMethod.put
    var idempotency = Idempotency.byMethod
    var body: RequestBody?
    var path: Path { "/thing" }
  }

  /// Runs one exchange to open a connection, then the call. The server closes `times` times before it responds.
  private func outcome(_ request: Write, closing times: Int = 1) async throws -> (Outcome<String>, LoopbackServer) {
    let server = try LoopbackServer()
    server.enqueue(.ok("first"))
    for _ in 0..<times { server.enqueue(.closeBeforeAnswer) }
    for _ in 0..<3 { server.enqueue(.ok("right")) }
    let client = APIClient(baseURL: server.url)
    _ = try await client.send(Write(method: .post))
    return (await client.outcome(of: request), server)
  }

  private static let lengths: [Int?] = [nil, 5, 1 << 20]

  @Test(arguments: [HTTPMethod.put, .delete, .options], lengths)
  func `repeatable request is resent once`(method: HTTPMethod, length: Int?) async throws {
    let (outcome, server) = try await outcome(Write(method: method, body: length.map { .bytes(Data(count: $0)) }))
    #expect(outcome.value == "right", "\(outcome.error?.message ?? "")")
    try #require(server.requests.count == 3)
    #expect(server.requests[2].body.count == server.requests[1].body.count)
    #expect(outcome.metrics.exchanges.last?.isConnectionReused == false)
    #expect(outcome.metrics.attempts == 2)
    #expect(outcome.metrics.retries == [RetryMetrics(reason: .failure(.closedBeforeResponse), delay: .zero)])
    // libcurl has already opened a second connection when a body that it pulls must start again.
    #expect(server.connectionCount == 2 || server.connectionCount == 3 && length != nil)
  }

  @Test(arguments: [HTTPMethod.post, .patch], lengths)
  func `other requests are sent once`(method: HTTPMethod, length: Int?) async throws {
    let (outcome, server) = try await outcome(Write(method: method, body: length.map { .bytes(Data(count: $0)) }))
    #expect(outcome.error?.transportKind == .closedBeforeResponse && server.requests.count == 2)
    #expect(outcome.metrics.attempts == 1 && outcome.metrics.retries.isEmpty)
  }

  @Test(arguments: [
    (HTTPMethod.post, Idempotency.assumed, true), (.post, .keyed(), true), (.put, .never, false), (.get, .never, false),
    (.get, .byMethod, true),
  ])
  func `idempotency decides about resending`(method: HTTPMethod, rule: Idempotency, isRepeated: Bool) async throws {
    let (outcome, server) = try await outcome(Write(method: method, idempotency: rule))
    #expect((outcome.value == "right") == isRepeated && server.requests.count == (isRepeated ? 3 : 2))
  }

  @Test func `request is resent only once`() async throws {
    let (outcome, server) = try await outcome(Write(body: .text("whole")), closing: 2)
    #expect(outcome.error?.transportKind == .closedBeforeResponse && server.requests.count == 3)
    #expect(outcome.error?.attempts == 2 && outcome.metrics.retries.count == 1)
  }

  @Test(arguments: [HTTPMethod.delete, .put])
  func `many closed connections cause one resend`(method: HTTPMethod) async throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      request.method == "POST" ? .ok().held(at: gate) : .closeBeforeAnswer
    }
    let client = APIClient(baseURL: server.url)
    client.configure { $0.admission = AdmissionLimits(perHost: 8, total: 8) }
    async let kept = withTaskGroup { group in
      for _ in 0..<4 { group.addTask { await client.outcome(of: Write(method: .post)).error == nil } }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    try await server.wait { $0.connectionCount == 4 }
    gate.open()
    #expect(await kept == 4)
    let outcome = await client.outcome(of: Write(method: method))
    #expect(outcome.error?.transportKind == .closedBeforeResponse)
    #expect(server.requests.count { $0.method == method.rawValue } == 2)
    #expect(outcome.error?.attempts == 2)
  }

  @Test func `one-shot body is not resent`() async throws {
    let pieces = AsyncStream<Data> {
      $0.yield(Data("x".utf8)); $0.finish()
    }
    let (outcome, server) = try await outcome(Write(body: .pieces(pieces, length: 1)))
    #expect(outcome.error?.transportKind == .closedBeforeResponse && server.requests.count == 2)
  }

  @Test func `closed new connection is not retried`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.closeBeforeAnswer, .ok("right"))
    let outcome = await APIClient(baseURL: server.url).outcome(of: Write())
    #expect(outcome.error?.transportKind == .closedBeforeResponse && server.requests.count == 1)
  }
}
