import ErrandSupport
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TransportChecks

@testable import ErrandURLSession

struct SessionExchangeTests {
  private static let head = ResponseHead(status: 200, fields: ["Content-Length": "4"])

  @Test func `pieces become the body`() async throws {
    let rig = try ExchangeRig()
    let response = try await rig.outcome { run in
      run.received(Self.head)
      run.received(Data("ab".utf8))
      run.received(Data("cd".utf8))
      run.completed(nil, head: nil)
    }
    #expect(response.text == "abcd")
    #expect(rig.task.seen == ["resume"])
  }

  @Test func `late callbacks have no effect`() async throws {
    let rig = try ExchangeRig()
    let response = try await rig.outcome { run in
      run.received(ResponseHead(status: 204))
      run.completed(nil, head: nil)
      run.received(Data("late".utf8))
      run.received(ResponseHead(status: 500))
      run.completed(URLError(.cancelled), head: nil)
      run.stop(.cancelled)
    }
    await rig.settle()
    #expect(response.status == 204)
    #expect(response.body.isEmpty)
    #expect(throws: TransportFailure.self) { try rig.run.outcome() }
  }

  @Test func `a paused sink suspends the task`() async throws {
    let sink = RecordingSink(onPiece: { number, flow in
      guard number < 3 else { return true }
      flow.resume()
      return false
    })
    let rig = try ExchangeRig(sink: sink)
    let response = try await rig.outcome { run in
      run.received(ResponseHead(status: 200))
      for piece in ["a", "b", "c", "d"] { run.received(Data(piece.utf8)) }
      run.completed(nil, head: nil)
    }
    #expect(response.body.isEmpty)
    #expect(sink.bytes == Data("abcd".utf8))
    #expect(sink.ends == 1)
    await rig.settle()
    #expect(rig.task.seen == ["resume", "suspend"])
  }

  @Test(arguments: [["a"], ["a", "b", "c"]])
  func `the task resumes with its sink`(pieces: [String]) async throws {
    let paused = Latch()
    let sink = RecordingSink(onPiece: { number, _ in number > 1 })
    let rig = try ExchangeRig(sink: sink)
    async let response = rig.outcome { run in
      run.received(ResponseHead(status: 200))
      for piece in pieces { run.received(Data(piece.utf8)) }
      paused.open()
    }
    try await paused.wait()
    await rig.settle()
    #expect(rig.task.seen == ["resume", "suspend"])
    sink.resume()
    await rig.settle()
    #expect(rig.task.seen == ["resume", "suspend", "resume"])
    rig.queues.runCallback { rig.run.completed(nil, head: nil) }
    #expect(try await response.status == 200)
    #expect(sink.bytes == Data(pieces.joined().utf8))
    #expect(sink.ends == 1)
  }

  @Test func `a throwing sink cancels the task`() async throws {
    let sink = RecordingSink { _ in throw RecordingSink.Refusal() }
    let rig = try ExchangeRig(sink: sink)
    await #expect(throws: RecordingSink.Refusal()) {
      try await rig.outcome { run in
        run.received(Self.head)
        run.completed(URLError(.cancelled), head: nil)
      }
    }
    await rig.settle()
    #expect(rig.task.seen == ["resume", "cancel"])
  }

  @Test func `a stop waits at most 50 ms`() async throws {
    let call = CallState()
    let rig = try ExchangeRig(call: call)
    let outcome = Task { try await rig.outcome { _ in call.stop(.cancelled) } }
    while !rig.task.seen.contains("cancel") { await Task.yield() }
    rig.clock.advance(by: .milliseconds(50))
    await #expect(throws: CallState.Stopped(reason: .cancelled)) { try await outcome.value }
    #expect(call.openWaits == 0)
  }

  @Test func `metrics before a stop are recorded`() async throws {
    let call = CallState()
    let record = CallRecord()
    var exchange = Exchange(request: try HTTPRequest(url: "http://h.example/"), call: call)
    exchange.handling.observer = record.sending(exchange.request, at: .now)
    let rig = ExchangeRig(exchange)
    let clock = rig.clock
    let outcome = Task {
      try await rig.outcome { run in
        clock.advance(by: .milliseconds(30))
        run.received(Self.head)
        call.stop(.cancelled)
      }
    }
    while !rig.task.seen.contains("cancel") { await Task.yield() }
    clock.advance(by: .milliseconds(50))
    await #expect(throws: CallState.Stopped(reason: .cancelled)) { try await outcome.value }
    #expect(record.ended(after: .zero, at: .now).0.exchanges.map(\.firstByte) == [.milliseconds(30)])
  }

  @Test func `a stop before the start creates no task`() async throws {
    let call = CallState()
    call.stop(.expired)
    let rig = try ExchangeRig(call: call)
    await #expect(throws: CallState.Stopped(reason: .expired)) { try await rig.outcome { _ in } }
    #expect(rig.task.seen.isEmpty)
  }

  @Test func `an idle time-out names its limit`() async throws {
    let rig = try ExchangeRig(idle: .milliseconds(500))
    let outcome = Task { try await rig.outcome { _ in } }
    #expect(await rig.clock.waitForTimers(1))
    await rig.settle()
    rig.clock.advance(by: .milliseconds(500))
    await rig.settle()
    rig.queues.runCallback { rig.run.completed(URLError(.cancelled), head: nil) }
    let failure = await #expect(throws: TransportFailure.self) { try await outcome.value }
    #expect(failure?.kind == .idleTimeout)
    #expect(
      failure?.description
        == "No data was transferred to or from http://h.example within 0.5 seconds; raise `timeouts.idle` "
        + "to wait longer.")
  }

  @Test(arguments: [(0, [], false), (9, [], true), (9, [4], false)] as [(Int, [Int64], Bool)])
  func `an idle upload is unsent without progress`(length: Int, sent: [Int64], isUnsent: Bool) async throws {
    let rig = try ExchangeRig(.post, body: HTTPBody(Data(count: length)), idle: .milliseconds(500))
    let outcome = Task { try await rig.outcome { _ in } }
    #expect(await rig.clock.waitForTimers(1))
    await rig.settle()
    rig.clock.advance(by: .milliseconds(500))
    await rig.settle()
    rig.queues.runCallback {
      // URLSession may send a part of the body until it ends the task.
      for bytes in sent { rig.run.sent(bytes) }
      rig.run.completed(URLError(.cancelled), head: nil)
    }
    let failure = await #expect(throws: TransportFailure.self) { try await outcome.value }
    #expect(failure?.kind == .idleTimeout && failure?.isCertainlyNotSent == isUnsent)
    #expect(failure?.metrics?.total == .milliseconds(500))
  }

  @Test func `a slow response is no connect time-out`() async throws {
    let rig = try ExchangeRig(idle: .seconds(60))
    #expect(rig.run.exchange.connectTimeout == .seconds(10))
    let outcome = Task { try await rig.outcome { _ in } }
    #expect(await rig.clock.waitForTimers(1))
    await rig.settle()
    rig.clock.advance(by: .seconds(59))
    await rig.settle()
    rig.queues.runCallback {
      rig.run.received(ResponseHead(status: 204))
      rig.run.completed(nil, head: nil)
    }
    #expect(try await outcome.value.status == 204)
  }

  @Test func `received bytes reset the idle time-out`() async throws {
    let rig = try ExchangeRig(idle: .milliseconds(500))
    let outcome = Task { try await rig.outcome { _ in } }
    #expect(await rig.clock.waitForTimers(1))
    rig.clock.advance(by: .milliseconds(400))
    rig.queues.runCallback { rig.run.received(ResponseHead(status: 200)) }
    await rig.settle()
    rig.clock.advance(by: .milliseconds(400))
    await rig.settle()
    rig.queues.runCallback { rig.run.completed(nil, head: nil) }
    #expect(try await outcome.value.status == 200)
  }

  @Test func `waiting for a network is not idle`() async throws {
    let rig = try ExchangeRig(idle: .milliseconds(500), waits: true)
    let outcome = Task { try await rig.outcome { _ in } }
    #expect(await rig.clock.waitForTimers(1))
    rig.queues.runCallback { rig.run.waitsForNetwork() }
    for _ in 0..<3 {
      await rig.settle()
      rig.clock.advance(by: .milliseconds(500))
    }
    await rig.settle()
    // After the first byte, the exchange can be idle again.
    rig.queues.runCallback { rig.run.received(ResponseHead(status: 200)) }
    await rig.settle()
    for _ in 0..<2 {
      rig.clock.advance(by: .milliseconds(500))
      await rig.settle()
    }
    rig.queues.runCallback { rig.run.completed(URLError(.cancelled), head: nil) }
    let failure = await #expect(throws: TransportFailure.self) { try await outcome.value }
    #expect(failure?.kind == .idleTimeout && failure?.metrics?.status == 200)
  }

  @Test func `an online exchange can be idle`() async throws {
    let rig = try ExchangeRig(idle: .milliseconds(500), waits: true)
    let outcome = Task { try await rig.outcome { _ in } }
    #expect(await rig.clock.waitForTimers(1))
    await rig.settle()
    rig.clock.advance(by: .milliseconds(500))
    await rig.settle()
    rig.queues.runCallback { rig.run.completed(URLError(.cancelled), head: nil) }
    let failure = await #expect(throws: TransportFailure.self) { try await outcome.value }
    #expect(failure?.kind == .idleTimeout)
  }

  @Test(arguments: [0, 9]) func `an empty body proves nothing when offline`(length: Int) async throws {
    let rig = try ExchangeRig(.post, body: HTTPBody(Data(count: length)))
    let failure = await #expect(throws: TransportFailure.self) {
      try await rig.outcome { $0.completed(URLError(.notConnectedToInternet), head: nil) }
    }
    #expect(failure?.kind == .offline && failure?.isCertainlyNotSent == (length > 0))
  }

  @Test func `progress ends with the last byte`() async throws {
    let seen = Locked<[TransferProgress]>([])
    let rig = try ExchangeRig(
      .post, body: HTTPBody(Data(count: 9)), onProgress: { report in seen.withLock { $0.append(report) } })
    _ = try await rig.outcome { run in
      run.sent(4)
      run.sent(9)
      run.received(Self.head)
      run.received(Data("abcd".utf8))
      run.completed(nil, head: nil)
    }
    #expect(
      seen.withLock { $0 } == [
        TransferProgress(.upload, bytes: 4, total: 9), TransferProgress(.upload, bytes: 9, total: 9),
        TransferProgress(.download, bytes: 4, total: 4),
      ])
  }

  @Test func `a rejected body is not reported as sent`() async throws {
    let seen = Locked<[TransferProgress]>([])
    let rig = try ExchangeRig(
      .post, body: HTTPBody(Data(count: 9)), onProgress: { report in seen.withLock { $0.append(report) } })
    _ = try await rig.outcome { run in
      run.sent(4)
      run.received(ResponseHead(status: 413))
      run.completed(nil, head: nil)
    }
    #expect(
      seen.withLock { $0 } == [
        TransferProgress(.upload, bytes: 4, total: 9), TransferProgress(.download, bytes: 0, total: 0),
      ])
  }

  @Test func `a redirect without a target is a response`() async throws {
    let rig = try ExchangeRig()
    let response = try await rig.outcome { run in run.completed(nil, head: ResponseHead(status: 301)) }
    #expect(response.status == 301)
  }

  @Test func `the measured HTTP version is reported`() async throws {
    let rig = try ExchangeRig()
    var metrics = ExchangeMetrics()
    metrics.version = .http2
    let reported = metrics
    let response = try await rig.outcome { run in
      run.received(ResponseHead(status: 204))
      run.measured(reported)
      run.completed(nil, head: nil)
    }
    #expect(response.head.version == .http2)
    #expect(response.metrics.total != nil)
  }

  @Test func `a failure has the status of the response`() async throws {
    let rig = try ExchangeRig()
    let failure = await #expect(throws: TransportFailure.self) {
      try await rig.outcome { run in
        run.received(ResponseHead(status: 206))
        run.measured(ExchangeMetrics())
        run.completed(URLError(.networkConnectionLost), head: nil)
      }
    }
    #expect(failure?.metrics?.status == 206)
  }

  @Test func `an untrusted server ends the exchange`() async throws {
    let rig = try ExchangeRig()
    let refused = TransportFailure(.pinMismatch, "Another key.", isCertainlyNotSent: true)
    await #expect(throws: refused) {
      try await rig.outcome { run in
        run.refuse(refused)
        run.completed(URLError(.cancelled), head: nil)
      }
    }
    await rig.settle()
    #expect(rig.task.seen == ["resume", "cancel"])
  }

  @Test func `a missing first byte time is measured`() async throws {
    let rig = try ExchangeRig()
    let clock = rig.clock
    let response = try await rig.outcome { run in
      clock.advance(by: .milliseconds(30))
      run.received(ResponseHead(status: 204))
      run.measured(ExchangeMetrics())
      run.completed(nil, head: nil)
    }
    #expect(response.metrics.firstByte == .milliseconds(30))
    var reported = ExchangeMetrics()
    reported.firstByte = .milliseconds(7)
    let measured = reported
    let other = try await ExchangeRig().outcome { run in
      run.received(ResponseHead(status: 204))
      run.measured(measured)
      run.completed(nil, head: nil)
    }
    #expect(other.metrics.firstByte == .milliseconds(7))
  }

  /// A file with six bytes.
  private static func file() throws -> URL {
    let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    try Data("before".utf8).write(to: file)
    return file
  }

  @Test(arguments: [[], [3], [3, 6]] as [[Int64]])
  func `a changed upload file is reported`(sent: [Int64]) async throws {
    let file = try Self.file()
    defer { try? FileManager.default.removeItem(at: file) }
    let rig = try ExchangeRig(.put, body: .file(file))
    let failure = await #expect(throws: TransportFailure.self) {
      try await rig.outcome { run in
        try? Data("behind its back".utf8).write(to: file)
        for bytes in sent { run.sent(bytes) }
        run.received(ResponseHead(status: 200))
        run.completed(nil, head: nil)
      }
    }
    #expect(failure?.kind == .bodyChanged)
  }

  @Test(arguments: [true, false]) func `a sent file may change`(isRemoved: Bool) async throws {
    let file = try Self.file()
    defer { try? FileManager.default.removeItem(at: file) }
    let rig = try ExchangeRig(.put, body: .file(file))
    let response = try await rig.outcome { run in
      run.sent(6)
      if isRemoved {
        try? FileManager.default.removeItem(at: file)
      } else {
        try? Data("the next body".utf8).write(to: file)
      }
      run.received(ResponseHead(status: 201))
      run.completed(nil, head: nil)
    }
    #expect(response.status == 201)
  }
}
