import Errand
import ErrandHTTP
import ErrandTesting
import Testing

/// Tests the order of scripted responses, and requests without a response.
struct ScriptedTransportTests {
  struct Get: APIRequest {
    typealias Response = String
    let path: Path
  }

  private struct Post: APIRequest {
    typealias Response = String
    var path: Path { "/payments" }
    var method: HTTPMethod { .post }
    var body: RequestBody? { .text("pay") }
  }

  private func client(_ transport: ScriptedTransport, retries: RetryPolicy = .none) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "https://h.example")
    configuration.transport = .own(transport)
    configuration.retries = retries
    return APIClient(configuration)
  }

  @Test func `responses are returned in order`() async throws {
    let client = client(ScriptedTransport(.text("1"), .text("2")))
    #expect(try await client.send(Get(path: "/a")) == "1")
    #expect(try await client.send(Get(path: "/b")) == "2")
  }

  @Test(arguments: [(0, "no response"), (1, "only 1 response"), (2, "only 2 responses")])
  func `missing response names the request`(count: Int, script: String) async {
    let transport =
      switch count {
      case 0: ScriptedTransport()
      case 1: ScriptedTransport(.text("1"))
      default: ScriptedTransport(.text("1"), .text("2"))
      }
    let client = client(transport)
    for _ in 0..<count { #expect(await client.outcome(of: Get(path: "/a")).error == nil) }
    let error = await client.outcome(of: Get(path: "/users/8")).error
    #expect(error?.stage == .transport && error?.transportKind == .notScripted)
    #expect(
      error?.message
        == "The `ScriptedTransport` has no response for request \(count + 1), GET https://h.example/users/8: it was "
        + "given \(script). Add one to its arguments, such as `.json(\"{}\")`; a retry and a redirect need a response "
        + "of their own.")
    #expect((error?.cause as? TransportFailure)?.kind == .notScripted)
  }

  @Test func `missing response is not retried`() async {
    let transport = ScriptedTransport(.status(503))
    let client = client(transport, retries: RetryPolicy(statuses: [503], busyDelay: .zero))
    let error = await client.outcome(of: Get(path: "/a")).error
    #expect(error?.transportKind == .notScripted && transport.requests.count == 2)
  }

  @Test(arguments: [TransportFailure.Kind.nameLookup, .refused, .connectTimeout])
  func `unsent POST is retried`(kind: TransportFailure.Kind) async {
    let transport = ScriptedTransport(.failure(kind), .failure(kind), .text("paid"))
    let outcome = await client(transport, retries: RetryPolicy(firstDelay: .zero)).outcome(of: Post())
    #expect(outcome.value == "paid" && outcome.metrics.attempts == 3)
  }

  @Test func `script states whether POST was sent`() async {
    let sent = ScriptedTransport(.failure(.refused, isCertainlyNotSent: false), .text("paid twice"))
    let policy = RetryPolicy(firstDelay: .zero)
    #expect(await client(sent, retries: policy).outcome(of: Post()).error?.transportKind == .refused)
    #expect(sent.requests.count == 1)
    let unsent = ScriptedTransport(.failure(.reset, isCertainlyNotSent: true), .text("paid"))
    #expect(await client(unsent, retries: policy).outcome(of: Post()).value == "paid")
    #expect(unsent.requests.count == 2)
  }
}
