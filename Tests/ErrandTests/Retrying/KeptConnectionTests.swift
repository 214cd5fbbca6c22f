import Errand
import ErrandTesting
import Foundation
import Testing

/// A kept connection that dies under a request, where nothing is tried again by choice.
@Suite(.timeLimit(.minutes(2))) struct KeptConnectionTests {
  private struct Write: APIRequest {
    typealias Response = String
    var method = HTTPMethod.put
    var idempotency = Idempotency.byMethod
    var body: RequestBody?
    var path: Path { "/thing" }
  }

  /// One exchange to keep a connection, then the call; the server closes as often as said before it answers.
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
  func `repeatable request is sent once more`(method: HTTPMethod, length: Int?) async throws {
    let (outcome, server) = try await outcome(Write(method: method, body: length.map { .bytes(Data(count: $0)) }))
    #expect(outcome.value == "right", "\(outcome.error?.message ?? "")")
    try #require(server.requests.count == 3)
    #expect(server.requests[2].body.count == server.requests[1].body.count)
    #expect(outcome.metrics.exchanges.last?.isConnectionReused == false)
    #expect(outcome.metrics.attempts == 2)
    #expect(outcome.metrics.retries == [RetryMetrics(reason: .failure(.closedBeforeResponse), delay: .zero)])
    // libcurl has opened a second one by the time that a body which it pulls has to begin anew.
    #expect(server.connectionCount == 2 || server.connectionCount == 3 && length != nil)
  }

  @Test(arguments: [HTTPMethod.post, .patch], lengths)
  func `others are sent once`(method: HTTPMethod, length: Int?) async throws {
    let (outcome, server) = try await outcome(Write(method: method, body: length.map { .bytes(Data(count: $0)) }))
    #expect(outcome.error?.transportKind == .closedBeforeResponse && server.requests.count == 2)
    #expect(outcome.metrics.attempts == 1 && outcome.metrics.retries.isEmpty)
  }

  @Test(arguments: [
    (HTTPMethod.post, Idempotency.assumed, true), (.post, .keyed(), true), (.put, .never, false), (.get, .never, false),
    (.get, .byMethod, true),
  ])
  func `request says whether it may be`(method: HTTPMethod, rule: Idempotency, isRepeated: Bool) async throws {
    let (outcome, server) = try await outcome(Write(method: method, idempotency: rule))
    #expect((outcome.value == "right") == isRepeated && server.requests.count == (isRepeated ? 3 : 2))
  }

  @Test func `it is done once`() async throws {
    let (outcome, server) = try await outcome(Write(body: .text("whole")), closing: 2)
    #expect(outcome.error?.transportKind == .closedBeforeResponse && server.requests.count == 3)
    #expect(outcome.error?.attempts == 2 && outcome.metrics.retries.count == 1)
  }

  @Test(arguments: [HTTPMethod.delete, .put])
  func `many kept connections repeat it once`(method: HTTPMethod) async throws {
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

  @Test func `body that is used up stays`() async throws {
    let pieces = AsyncStream<Data> {
      $0.yield(Data("x".utf8)); $0.finish()
    }
    let (outcome, server) = try await outcome(Write(body: .pieces(pieces, length: 1)))
    #expect(outcome.error?.transportKind == .closedBeforeResponse && server.requests.count == 2)
  }

  @Test func `new connection is not tried again`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.closeBeforeAnswer, .ok("right"))
    let outcome = await APIClient(baseURL: server.url).outcome(of: Write())
    #expect(outcome.error?.transportKind == .closedBeforeResponse && server.requests.count == 1)
  }
}
