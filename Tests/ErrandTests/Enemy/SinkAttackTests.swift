import Errand
import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// Sinks that throw, pause or never resume, mostly over real sockets.
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

  @Test func `log names only bytes in memory`() async throws {
    let server = try LoopbackServer { _ in .ok("short") }
    let lines = Recorded<LogLine>()
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.log = { lines.append($0) }
    let client = APIClient(configuration)
    _ = await client.outcome(of: Sending(), options: CallOptions(bodySink: AwkwardSink()))
    _ = await client.outcome(of: Sending(), options: CallOptions())
    let responses = lines.all.map(\.text).filter { $0.hasPrefix("200 OK from \(server.url)") }
    #expect(responses.map { $0.contains("bytes") } == [false, true])
    #expect(responses.last?.hasSuffix(", 5 bytes in memory") == true)
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

  /// Counts how often it is settled, and runs a closure each time.
  private final class SettlingSink: BodySink {
    let settled = Recorded<Int>()
    private let work: @Sendable () async throws -> Void

    init(_ work: @escaping @Sendable () async throws -> Void) { self.work = work }

    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) -> Bool { true }
    func end() {}
    func settle() async throws {
      settled.append(settled.count + 1)
      try await work()
    }
  }

  private func scripted(_ answer: ScriptedAnswer) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(ScriptedTransport(answer))
    return APIClient(configuration)
  }

  @Test(arguments: [ScriptedAnswer.text("x"), .failure(.reset)])
  func `failing sink is settled once`(answer: ScriptedAnswer) async {
    let sink = SettlingSink { throw AwkwardSink.Refusal(place: "settle") }
    let error = await scripted(answer).outcome(of: Sending(), options: CallOptions(bodySink: sink)).error
    #expect(error?.transportKind == (answer.failure?.kind ?? .sink), "the error of the exchange comes first")
    #expect(sink.settled.all == [1])
  }

  @Test func `cancelled sink is settled once`() async {
    let latch = Latch()
    let sink = SettlingSink { try await latch.wait() }
    let client = scripted(.text("x"))
    let call = Task { await client.outcome(of: Sending(), options: CallOptions(bodySink: sink)) }
    await latch.reached()
    call.cancel()
    #expect(await call.value.error?.stage == .cancelled)
    #expect(sink.settled.all == [1])
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
