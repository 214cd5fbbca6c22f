import ErrandHTTP
import ErrandSupport
import Errand
import ErrandTesting
import Foundation
import Testing

struct ProfiledTransportTests {
  private let clock = ManualClock()
  private let url = "https://h.example/a"

  private func call() -> CallState { CallState(timers: clock) }

  /// Sends a request and advances the clock by each step as soon as a timer is set. Checks that the exchange has not
  /// ended before the last step, and returns the number of steps.
  private func time(_ exchange: Exchange, over transport: any Transport, _ steps: [Duration]) async throws -> Int {
    let done = Locked(false)
    async let response = {
      let response = try await transport.send(exchange)
      done.withLock { $0 = true }
      return response
    }()
    var turned = 0
    for step in steps {
      #expect(await clock.waitForTimers(1))
      #expect(!done.withLock { $0 }, "after \(turned) steps")
      clock.advance(by: step)
      turned += 1
    }
    _ = try await response
    #expect(clock.pending == 0)
    return turned
  }

  @Test func `latency and bodies are delayed`() async throws {
    let scripted = ScriptedTransport { _ in .text(String(repeating: "x", count: 2_000)) }
    let profile = NetworkProfile(latency: .seconds(3), downloadRate: 1_000, uploadRate: 100)
    let transport = ProfiledTransport(scripted, profile)
    let request = try HTTPRequest(method: .post, url: url, body: HTTPBody(Data(count: 500)))
    // 3 s and 500 B at 100 B/s, then 2000 B at 1000 B/s.
    let steps: [Duration] = [.milliseconds(7_999), .milliseconds(1), .milliseconds(1_999), .milliseconds(1)]
    #expect(try await time(Exchange(request: request, call: call()), over: transport, steps) == 4)
    #expect(scripted.requests.count == 1)
  }

  @Test func `file body needs one wait`() async throws {
    let place = RecordingPlace()
    try place.write(String(repeating: "x", count: 500))
    let transport = ProfiledTransport(WholeFileTransport(), NetworkProfile(uploadRate: 100))
    let request = try HTTPRequest(method: .put, url: url, body: .file(URL(fileURLWithPath: place.path)))
    let steps: [Duration] = [.milliseconds(4_999), .milliseconds(1)]
    #expect(try await time(Exchange(request: request, call: call()), over: transport, steps) == 2)
  }

  @Test func `perfect network does not wait`() async throws {
    let transport = ProfiledTransport(ScriptedTransport(.text("ok")), NetworkProfile())
    let exchange = Exchange(request: try HTTPRequest(url: url), call: call())
    #expect(try await transport.send(exchange).body == Data("ok".utf8))
  }

  @Test func `streams are delayed per piece`() async throws {
    let body = String(repeating: "x", count: 40_000)
    let transport = ProfiledTransport(
      ScriptedTransport(.text(body)), NetworkProfile(downloadRate: 16_384, uploadRate: 4_096))
    let seen = Locked(0)
    let sink = CollectingSink { piece in seen.withLock { $0 += piece.utf8.count } }
    let request = try HTTPRequest(
      method: .post, url: url, body: .stream(length: 70) { _ in LetterSource(count: 70) })
    // Upload of ten pieces of 7 B, then download of 16384, 16384 and 7232 B.
    let up = Array(repeating: Duration.milliseconds(2), count: 10)
    let exchange = Exchange(request: request, call: call(), sink: sink)
    _ = try await time(exchange, over: transport, up + [.seconds(1), .seconds(1), .milliseconds(442)])
    #expect(seen.withLock { $0 } == 40_000)
    #expect(sink.hasEnded)
  }

  @Test func `paused sink and pace both delay`() async throws {
    let transport = ProfiledTransport(
      ScriptedTransport(.text(String(repeating: "x", count: 20_000))), NetworkProfile(downloadRate: 16_384))
    let sink = HoldingSink()
    async let response = transport.send(Exchange(request: HTTPRequest(url: url), call: call(), sink: sink))
    #expect(await clock.waitForTimers(1))
    sink.resume()
    #expect(sink.pieces == 1, "the pace still delays the body")
    clock.advance(by: .seconds(1))
    #expect(await clock.waitForTimers(1))
    #expect(sink.pieces == 2)
    clock.advance(by: .seconds(1))
    #expect(!sink.hasEnded, "the sink still pauses the body")
    sink.resume()
    _ = try await response
    #expect(sink.hasEnded)
  }

  @Test func `cancellation ends the wait`() async throws {
    let scripted = ScriptedTransport(.text("ok"))
    let transport = ProfiledTransport(scripted, .edge)
    let call = call()
    async let ended = #expect(throws: CallState.Stopped(reason: .cancelled)) {
      try await transport.send(Exchange(request: HTTPRequest(url: url), call: call))
    }
    #expect(await clock.waitForTimers(1))
    call.stop(.cancelled)
    _ = await ended
    #expect(clock.pending == 0)
    #expect(scripted.requests.isEmpty)
  }

  @Test(arguments: [(0.0, 0), (1.0, 200), (0.25, 47)]) func `loss resets a share`(_ share: Double, _ count: Int)
    async throws
  {
    let scripted = ScriptedTransport { _ in .text("ok") }
    let transport = ProfiledTransport(scripted, .lossy(share), seed: 7)
    var lost: [Int] = []
    for number in 0..<200 {
      if let failure = await failure(of: try HTTPRequest(url: url), over: transport) {
        #expect(failure.kind == .reset && !failure.isCertainlyNotSent)
        lost.append(number)
      }
    }
    #expect(abs(lost.count - count) <= (share == 0.25 ? 15 : 0), "\(lost.count)")
    #expect(scripted.requests.count == 200 - lost.count)
    let again = ProfiledTransport(scripted, .lossy(share), seed: 7)
    for number in 0..<200 {
      let isLost = await failure(of: try HTTPRequest(url: url), over: again) != nil
      #expect(isLost == lost.contains(number))
    }
  }

  @Test func `jitter depends on the seed`() async throws {
    func latencies(_ seed: UInt64) async throws -> [Duration] {
      let profile = NetworkProfile(latency: .seconds(1), jitter: .seconds(1))
      let transport = ProfiledTransport(ScriptedTransport { _ in .text("ok") }, profile, clock: clock, seed: seed)
      var found: [Duration] = []
      for _ in 0..<5 {
        let start = clock.now
        let done = Locked(false)
        async let response = {
          _ = try await transport.send(Exchange(request: HTTPRequest(url: url)))
          done.withLock { $0 = true }
        }()
        #expect(await clock.waitForTimers(1))
        while clock.pending > 0 { clock.advance(by: .milliseconds(1)) }
        try await response
        #expect(done.withLock { $0 })
        found.append(start.duration(to: clock.now))
      }
      return found
    }
    let first = try await latencies(1)
    #expect(first.allSatisfy { $0 >= .seconds(1) && $0 <= .milliseconds(2_001) })
    #expect(Set(first).count > 1)
    #expect(try await latencies(1) == first)
    #expect(try await latencies(2) != first)
  }

  @Test func `slow network hits the deadline`() async throws {
    var configuration = ClientConfiguration(baseURL: "https://h.example")
    let body = ScriptedAnswer.json(#"{"nick":"\#(String(repeating: "x", count: 60_000))"}"#)
    configuration.transport = .own(ProfiledTransport(ScriptedTransport { _ in body }, .edge))
    configuration.timers = clock
    configuration.timeouts.total = .seconds(2)
    let client = APIClient(configuration)
    async let outcome = client.outcome(of: ReplayUser(id: 7))
    #expect(await clock.waitForTimers(2))
    clock.advance(by: .milliseconds(1_300))
    #expect(await clock.waitForTimers(2))
    clock.advance(by: .milliseconds(701))
    #expect(await outcome.error?.stage == .deadline)
  }
}

/// A sink that pauses after each piece until ``resume()``.
private final class HoldingSink: BodySink {
  private struct State {
    var flow: BodyFlow?
    var pieces = 0
    var hasEnded = false
  }

  private let state = Locked(State())

  var pieces: Int { state.withLock { $0.pieces } }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }
  func resume() { state.withLock { $0.flow }?.resume() }

  func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition {
    state.withLock { $0.flow = flow }
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) -> Bool {
    state.withLock { $0.pieces += 1 }
    return false
  }

  func end() { state.withLock { $0.hasEnded = true } }
}
