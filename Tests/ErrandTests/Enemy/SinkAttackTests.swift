import Errand
import ErrandTesting
import Foundation
import Testing

/// Sinks that throw, pause or never resume, over real sockets.
struct SinkAttackTests {
  @Test(arguments: [AwkwardSink.Fault.begin, .write(1), .write(3), .end])
  func `error of a sink ends the call`(fault: AwkwardSink.Fault) async throws {
    let server = try LoopbackServer { $0.path == "/next" ? .ok("next") : .generated(count: 1_000_000) }
    let client = APIClient(baseURL: server.url)
    let sink = AwkwardSink(fault)
    let error = await client.outcome(of: Sending(), options: CallOptions(bodySink: sink)).error
    #expect(error?.transportKind == .sink)
    #expect(error?.cause is AwkwardSink.Refusal)
    #expect(client.running.isEmpty && client.admission == (0, 0))
    #expect(try await client.send(Ask<String>(path: "/next")) == "next")
  }

  @Test(arguments: [2, 3, 4]) func `error after a pause ends the call`(number: Int) async throws {
    let server = try LoopbackServer { _ in .generated(count: 3_000_000) }
    let client = APIClient(baseURL: server.url)
    let sink = AwkwardSink(.write(number)) { $0 < number }
    async let outcome = client.outcome(of: Sending(), options: CallOptions(bodySink: sink))
    let turning = Task { @concurrent in
      while !Task.isCancelled {
        sink.resume()
        await Task.yield()
      }
    }
    let error = await outcome.error
    turning.cancel()
    #expect(error?.transportKind == .sink, "\(error.map { "\($0)" } ?? "success")")
    #expect(sink.pieces == number && sink.ends == 0)
  }

  @Test func `error on the last paused piece counts`() async throws {
    let server = try LoopbackServer { _ in .ok("short") }
    let client = APIClient(baseURL: server.url)
    let sink = AwkwardSink(.end) { _ in true }
    async let outcome = client.outcome(of: Sending(), options: CallOptions(bodySink: sink))
    await sink.paused.waitStubbornly()
    sink.resume()
    #expect(await outcome.error?.transportKind == .sink)
    #expect(sink.bytes == 5 && sink.ends == 1)
  }

  @Test(arguments: [true, false]) func `endless pause ends by deadline or cancel`(isDeadline: Bool) async throws {
    let server = try LoopbackServer { $0.path == "/next" ? .ok("next") : .endless() }
    let client = APIClient(baseURL: server.url)
    let sink = AwkwardSink { _ in true }
    let limit = isDeadline ? TimeLimit.milliseconds(200) : .never
    let options = CallOptions(timeouts: Timeouts(total: limit), bodySink: sink)
    async let outcome = client.outcome(of: Sending(), options: options)
    // On a busy machine the deadline may expire before the first byte.
    if !isDeadline {
      await sink.paused.waitStubbornly()
      client.cancelAll()
    }
    #expect(await outcome.error?.stage == (isDeadline ? .deadline : .cancelled))
    #expect(sink.ends == 0)
    sink.resume()
    #expect(try await client.send(Ask<String>(path: "/next")) == "next")
    try await server.wait { $0.openConnectionCount == 1 }
  }

  @Test func `accepted status reaches the sink`() async throws {
    let server = try LoopbackServer { _ in .status(300, body: "choices") }
    let sink = AwkwardSink()
    let outcome = await APIClient(baseURL: server.url)
      .outcome(of: Sending(statusRule: [300]), options: CallOptions(bodySink: sink))
    #expect(outcome.error == nil && sink.bytes == 7 && sink.ends == 1)
  }

  @Test func `redirects and error pages skip the sink`() async throws {
    let server = try LoopbackServer { request in
      switch request.path {
      case "/p": .redirect(to: "/gone")
      default: .status(404, body: "page")
      }
    }
    let sink = AwkwardSink()
    let outcome = await APIClient(baseURL: server.url).outcome(of: Sending(), options: CallOptions(bodySink: sink))
    #expect(outcome.error?.code == .status && outcome.response?.body == Data("page".utf8))
    #expect(sink.pieces == 0 && sink.ends == 0)
  }
}
