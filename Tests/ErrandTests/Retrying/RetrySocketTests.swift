import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Calls that are tried again, over real sockets.
@Suite(.timeLimit(.minutes(2))) struct RetrySocketTests {
  private static let atOnce = RetryPolicy(firstDelay: .zero, busyDelay: .zero)

  private func client(_ server: LoopbackServer) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.retries = Self.atOnce
    return APIClient(configuration)
  }

  private struct Put: APIRequest {
    typealias Response = String
    var path: Path { "/thing" }
    var method: HTTPMethod { .put }
    var body: RequestBody? { .text("the whole thing") }
  }

  /// Answers the first exchanges otherwise than the others.
  private func server(_ first: LoopbackAnswer, times: Int = 2) throws -> LoopbackServer {
    let count = Mutex(0)
    return try LoopbackServer { _ in
      count.withLock {
        $0 += 1
        return $0 <= times ? first : .ok("right")
      }
    }
  }

  @Test(arguments: [
    LoopbackAnswer.ok("much").cut(after: 0, of: .everything), .ok("much").cut(after: 2), .ok("much").reset(after: 1),
    .status(503, headers: ["Retry-After": "0"]), .status(502, body: "a page"),
  ])
  func `two bad answers and a right one`(bad: LoopbackAnswer) async throws {
    let server = try server(bad)
    let outcome = await client(server).outcome(of: Put())
    #expect(outcome.value == "right", "\(outcome.error?.message ?? "")")
    #expect(server.requests.count == 3)
    #expect(server.requests.allSatisfy { $0.bodyText == "the whole thing" }, "the body is sent whole each time")
  }

  @Test func `what failed was measured, too`() async throws {
    let server = try server(.ok("much").cut(after: 2))
    let outcome = await client(server).outcome(of: Put())
    #expect(outcome.value == "right" && server.requests.count == 3)
    #expect(outcome.metrics.exchanges.count == 3)
    #expect(outcome.metrics.exchanges.allSatisfy { $0.bytesReceived > 2 && $0.bytesSent > 2 })
  }

  @Test func `nobody listens any more`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    server.stop()
    let outcome = await client(server).outcome(of: Put())
    #expect(outcome.error?.transportKind == .refused)
    #expect(outcome.metrics.retries.map(\.reason) == [.failure(.refused), .failure(.refused)])
  }

  @Test func `bytes in a file handle are not taken back`() async throws {
    let server = try server(.ok("much").cut(after: 2))
    let pipe = Pipe()
    let error = await #expect(throws: APIError.self) {
      try await client(server).send(Put(), into: pipe.fileHandleForWriting)
    }
    #expect(error?.transportKind == .truncated && server.requests.count == 1)
  }

  @Test func `error page keeps the file handle clean`() async throws {
    let server = try server(.status(503, body: "a page"))
    let pipe = Pipe()
    try await client(server).send(Put(), into: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    #expect(try pipe.fileHandleForReading.readToEnd() == Data("right".utf8))
  }
}
