import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Draining with a manual clock, over a transport that holds every exchange until the test opens the latch.
struct DrainTests {
  private struct Ask: APIRequest {
    typealias Response = String
    var name = "a"
    var path: Path { "/\(name)" }
  }

  private struct TwoSteps: CallGroup {
    func body(in scope: GroupScope) async throws -> String {
      try await scope.send(Ask(name: "first")) + scope.send(Ask(name: "second"))
    }
  }

  private let clock = ManualClock()
  private let latch = Latch()
  private let sent = Recorded<String>()

  private func client(_ change: (inout ClientConfiguration) -> Void = { _ in }) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(
      ScriptedTransport { [sent, latch] request in
        sent.append(String(request.url.path))
        try await latch.wait()
        return .text("done")
      })
    configuration.timers = clock
    configuration.overlap.joining = .never
    change(&configuration)
    return APIClient(configuration)
  }

  /// Sends a request in a task, and returns when it has reached the transport.
  private func running(_ name: String, _ client: APIClient) async -> Task<Outcome<String>, Never> {
    let task = Task { await client.outcome(of: Ask(name: name)) }
    #expect(await eventually { sent.all.contains("/\(name)") })
    return task
  }

  /// Starts to drain in a task, and returns when the client refuses calls.
  private func draining(
    _ client: APIClient, within limit: Duration = .seconds(30)
  ) async -> Task<DrainReport, Never> {
    let task = Task { await client.drain(within: limit) }
    #expect(await eventually { client.isDraining })
    return task
  }

  @Test func `client without calls drains at once`() async {
    let client = client()
    #expect(!client.isDraining)
    let report = await client.drain()
    #expect(report == DrainReport(finished: 0, cancelled: 0, unfinished: 0, refused: 0, isCacheWritten: true))
    #expect(client.isDraining)
    #expect(clock.pending == 0)
  }

  @Test func `running call ends and new call is refused`() async {
    let client = client()
    let first = await running("first", client)
    let drain = await draining(client)
    let error = await client.outcome(of: Ask(name: "late")).error
    #expect(error?.code == .draining)
    #expect(error?.stage == .admission)
    #expect(error?.message.contains("make a new client") == true)
    latch.open()
    #expect(await first.value.value == "done")
    let report = await drain.value
    #expect(report == DrainReport(finished: 1, cancelled: 0, unfinished: 0, refused: 1, isCacheWritten: true))
    #expect(sent.all == ["/first"])
    #expect(clock.pending == 0)
  }

  @Test func `deadline cancels the rest`() async {
    let client = client()
    let first = await running("first", client)
    let drain = await draining(client, within: .seconds(30))
    #expect(await clock.waitForTimers(2))
    clock.advance(by: .milliseconds(29_999))
    #expect(client.running.count == 1)
    clock.advance(by: .milliseconds(1))
    #expect(await first.value.error?.code == .cancelled)
    let report = await drain.value
    #expect((report.finished, report.cancelled, report.unfinished) == (0, 1, 0))
    #expect(!report.isComplete)
  }

  @Test func `members of a running group continue`() async {
    let client = client()
    let group = Task { await client.outcome(of: TwoSteps(), options: GroupOptions()) }
    #expect(await eventually { sent.all == ["/first"] })
    let drain = await draining(client)
    latch.open()
    #expect(await group.value.error == nil)
    #expect(await drain.value.finished == 3)
    #expect(sent.all == ["/first", "/second"])
  }

  @Test func `new group is refused with its members`() async {
    let client = client()
    let first = await running("first", client)
    let drain = await draining(client)
    #expect(await client.outcome(of: TwoSteps(), options: GroupOptions()).error?.code == .draining)
    let error = await #expect(throws: APIError.self) {
      try await client.chain { try await $0.send(Ask(name: "late")) }
    }
    #expect(error?.code == .draining)
    latch.open()
    _ = await first.value
    #expect(await drain.value.refused == 3)
    #expect(sent.all == ["/first"])
  }

  @Test func `call of a hook belongs to its call`() async {
    let client = client()
    let hooked = Recorded<String>()
    let options = CallOptions(beforeCompletion: { _ in
      hooked.append(await client.outcome(of: Ask(name: "inner")).error?.code.rawValue ?? "success")
    })
    let outer = Task { await client.outcome(of: Ask(name: "outer"), options: options) }
    #expect(await eventually { sent.all == ["/outer"] })
    let drain = await draining(client)
    latch.open()
    _ = await outer.value
    #expect(await drain.value.finished == 2)
    #expect(hooked.all == ["success"])
  }

  @Test func `call of freshURL belongs to its download`() async throws {
    let file = URL.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)", directoryHint: .notDirectory)
    defer { try? FileManager.default.removeItem(at: file) }
    let client = client {
      $0.transport = .own(
        ScriptedTransport { [sent, latch] request in
          sent.append(request.url.path)
          try await latch.wait()
          return request.url.path == "/expired" ? .status(403) : .text("new")
        })
    }
    var download = Download.to(file)
    download.freshURL = { _ in "http://h.example/\(try await client.send(Ask(name: "link")))" }
    let running = Task { [download] in await client.outcome(of: FileDownload("/expired", download)) }
    #expect(await eventually { sent.all == ["/expired"] })
    let drain = await draining(client)
    latch.open()
    #expect(await running.value.error == nil)
    #expect(await drain.value.finished == 2)
    #expect(sent.all == ["/expired", "/link", "/new"])
  }

  @Test func `callers receive the same report`() async {
    let client = client()
    let first = await running("first", client)
    let drains = (0..<8).map { _ in Task { await client.drain(within: .seconds(30)) } }
    let short = await draining(client, within: .seconds(2))
    #expect(await clock.waitForTimers(10))
    clock.advance(by: .seconds(2))
    #expect(await first.value.error?.code == .cancelled)
    let report = await short.value
    #expect(report.cancelled == 1)
    for drain in drains { #expect(await drain.value == report) }
    #expect(await client.drain(within: .zero) == report)
  }

  @Test func `cancelled task cancels the rest at once`() async {
    let client = client()
    let first = await running("first", client)
    let drain = await draining(client)
    drain.cancel()
    #expect(await first.value.error?.code == .cancelled)
    #expect(await drain.value.cancelled == 1)
  }

  @Test func `hook that does not return is given up`() async {
    let client = client()
    let gate = Latch()
    let options = CallOptions(beforeCompletion: { _ in await gate.waitStubbornly() })
    latch.open()
    let stuck = Task { await client.outcome(of: Ask(), options: options) }
    #expect(await eventually { gate.arrivals == 1 })
    let reports = Recorded<DrainReport>()
    Task { reports.append(await client.drain(within: .zero)) }
    let hasEnded = await eventually {
      clock.advance(by: .seconds(5))
      return !reports.all.isEmpty
    }
    #expect(hasEnded)
    #expect(reports.all.map(\.unfinished) == [1])
    #expect(reports.all.map(\.isCacheWritten) == [false])
    gate.open()
    _ = await stuck.value
  }

  /// A client whose event stream has delivered its first event, and the iterator of the stream. The stream waits an
  /// hour before it connects again.
  private func stream() async throws -> (APIClient, EventStream.Iterator) {
    let client = client { configuration in
      configuration.transport = .own(
        ScriptedTransport { [sent, latch] request in
          sent.append(String(request.url.path))
          if sent.all.last != "/feed" { try await latch.wait() }
          return .data("retry: 3600000\ndata: a\n\n".utf8, contentType: "text/event-stream")
        })
    }
    var iterator = client.events(of: Ask(name: "feed")).makeAsyncIterator()
    #expect(try await iterator.next()?.data == "a")
    return (client, iterator)
  }

  /// Asks for the next event in a task, and records the code of the error.
  private func next(_ iterator: EventStream.Iterator, _ codes: Recorded<APIError.Code>) -> Task<Void, Never> {
    nonisolated(unsafe) var iterator = iterator  // used only by the task
    return Task {
      do throws(APIError) { _ = try await iterator.next() } catch { codes.append(error.code) }
    }
  }

  @Test func `stream that pauses ends at once`() async throws {
    let (client, iterator) = try await stream()
    let codes = Recorded<APIError.Code>()
    let next = next(iterator, codes)
    #expect(await eventually { client.registry.running.contains(where: \.isPause) })
    let reports = Recorded<DrainReport>()
    let drain = Task { reports.append(await client.drain(within: .seconds(30))) }
    #expect(await eventually { codes.all == [.draining] && reports.all.map(\.isComplete) == [true] })
    #expect(sent.all == ["/feed"])
    next.cancel()
    drain.cancel()
    await next.value
  }

  @Test func `stream does not pause while draining`() async throws {
    let (client, iterator) = try await stream()
    let first = await running("first", client)
    let drain = await draining(client)
    let codes = Recorded<APIError.Code>()
    let next = next(iterator, codes)
    #expect(await eventually { codes.all == [.draining] })
    next.cancel()
    latch.open()
    _ = await first.value
    let report = await drain.value
    #expect((report.refused, report.isComplete) == (1, true))
    #expect(sent.all == ["/feed", "/first"])
  }

  @Test func `own transport is released`() async throws {
    let transport = ScriptedTransport { _ in .text("") }
    let client = APIClient(ClientConfiguration(baseURL: "http://h.example"))
    client.configure { $0.transport = .own(transport) }
    await client.drain()
    guard case .own(let now) = client.configuration.transport else { throw APIError.draining }
    #expect(now is ReleasedTransport)
    let shared = APIClient(baseURL: "http://h.example")
    await shared.drain()
    guard case .platform = shared.configuration.transport else { throw APIError.draining }
  }

  @Test func `drained client names the reason to streams`() async throws {
    let client = client()
    await client.drain()
    let error = await #expect(throws: APIError.self) { try await client.stream(Ask()) }
    #expect(error?.code == .draining && error?.stage == .admission)
  }
}
