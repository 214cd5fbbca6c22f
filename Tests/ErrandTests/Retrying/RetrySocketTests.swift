import ErrandHTTP
import ErrandSupport
import Errand
import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Calls that are retried, over real sockets.
struct RetrySocketTests {
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

  /// Responds to the first `times` exchanges with `first`, and to the others with success.
  private func server(_ first: LoopbackAnswer, times: Int = 2) throws -> LoopbackServer {
    let count = Locked(0)
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
  func `call succeeds after two failures`(bad: LoopbackAnswer) async throws {
    let server = try server(bad)
    let outcome = await client(server).outcome(of: Put())
    #expect(outcome.value == "right", "\(outcome.error?.message ?? "")")
    #expect(server.requests.count == 3)
    #expect(server.requests.allSatisfy { $0.bodyText == "the whole thing" }, "the complete body is sent each time")
  }

  @Test func `failed attempts are measured`() async throws {
    let server = try server(.ok("much").cut(after: 2))
    let outcome = await client(server).outcome(of: Put())
    #expect(outcome.value == "right" && server.requests.count == 3)
    #expect(outcome.metrics.exchanges.count == 3)
    #expect(outcome.metrics.exchanges.allSatisfy { $0.bytesReceived > 2 && $0.bytesSent > 2 })
  }

  /// The date of the responses with Retry-After.
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  /// Runs a call to a server that responds once with a status and Retry-After, and advances the clock while the call
  /// waits. Returns the moments of its requests.
  private func sentAway(_ status: Int, _ text: String) async throws -> (Outcome<String>, [MonotonicInstant]) {
    let clock = ManualClock()
    let moments = Recorded<MonotonicInstant>()
    let away = LoopbackAnswer.status(status, headers: ["Retry-After": text, "Date": Self.date])
    let server = try LoopbackServer { request in
      moments.append(clock.now)
      return request.number == 1 ? away : .ok("right")
    }
    let client = client(server)
    client.configure { $0.timers = clock }
    async let outcome = client.outcome(of: Put(), options: .deadline(.never))
    let turning = Task { @concurrent in
      while !Task.isCancelled {
        if clock.pending > 0 { clock.advance(by: .milliseconds(250)) }
        await Task.yield()
      }
    }
    defer { turning.cancel() }
    return (await outcome, moments.all)
  }

  @Test(
    arguments: [
      ("0", 0), ("7", 7), ("Sun, 06 Nov 1994 08:49:44 GMT", 7), ("Sunday, 06-Nov-94 08:49:44 GMT", 7),
      ("Sun Nov  6 08:49:44 1994", 7), ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("-1", 0), ("+5", 0), ("1.5", 0),
      ("soon", 0), ("", 0),
    ])
  func `every form of Retry-After is parsed`(text: String, seconds: Int) async throws {
    for status in [429, 503] {
      let (outcome, moments) = try await sentAway(status, text)
      #expect(outcome.value == "right" && moments.count == 2, "\(outcome.error?.message ?? "")")
      #expect(outcome.metrics.retries == [RetryMetrics(reason: .status(status), delay: .seconds(seconds))])
      if moments.count == 2 { #expect(moments[0].duration(to: moments[1]) >= .seconds(seconds)) }
    }
  }

  @Test(arguments: ["61", "99999999999999999999999", "Sun, 06 Nov 1994 08:50:38 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"])
  func `too long Retry-After is not waited for`(text: String) async throws {
    for status in [429, 503] {
      let (outcome, moments) = try await sentAway(status, text)
      #expect(outcome.error?.status == status && moments.count == 1 && outcome.metrics.retries.isEmpty)
    }
  }

  /// Uses the real clock. Retry-After is longer than the remaining time and shorter than the allowed maximum.
  @Test func `no retry waits past the deadline`() async throws {
    let server = try server(.status(503, headers: ["Retry-After": "45"]))
    let start = ContinuousClock.now
    let outcome = await client(server).outcome(of: Put(), options: .deadline(.seconds(30)))
    #expect(outcome.error?.status == 503 && server.requests.count == 1)
    #expect(start.duration(to: .now) < .seconds(30))
  }

  @Test func `refused connection is retried`() async throws {
    let port = try RefusingPort()
    defer { withExtendedLifetime(port) {} }
    var configuration = ClientConfiguration(baseURL: port.url)
    configuration.retries = Self.atOnce
    let outcome = await APIClient(configuration).outcome(of: Put())
    #expect(outcome.error?.transportKind == .refused)
    #expect(outcome.metrics.retries.map(\.reason) == [.failure(.refused), .failure(.refused)])
  }

  @Test func `bytes in a file handle prevent a retry`() async throws {
    let server = try server(.ok("much").cut(after: 2))
    let pipe = Pipe()
    let error = await #expect(throws: APIError.self) {
      try await client(server).send(Put(), into: pipe.fileHandleForWriting)
    }
    #expect(error?.transportKind == .truncated && server.requests.count == 1)
  }

  @Test func `error page stays out of the file handle`() async throws {
    let server = try server(.status(503, body: "a page"))
    let pipe = Pipe()
    try await client(server).send(Put(), into: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    #expect(try pipe.fileHandleForReading.readToEnd() == Data("right".utf8))
  }
}
