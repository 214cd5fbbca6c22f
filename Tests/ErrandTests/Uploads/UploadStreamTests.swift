import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing
import TransportChecks

struct UploadStreamTests {
  @Test(arguments: [Int64(6), nil])
  func `stream arrives in order`(length: Int64?) async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let log = PieceSource.Log()
    let body = PieceSource.body([.bytes([1, 2]), .bytes([3]), .bytes([4, 5, 6])], length: length, log: log)
    #expect(try await APIClient(baseURL: server.url).send(Upload(body)) == "taken")
    let seen = try await server.request(number: 1)
    #expect(seen.body == [1, 2, 3, 4, 5, 6])
    #expect(seen.headers["Content-Length"] == length.map { "\($0)" })
    #expect(seen.headers["Transfer-Encoding"] == (length == nil ? "chunked" : nil))
    #expect(log.opened == 1 && log.closed == 1)
  }

  @Test(arguments: [Int64(4), nil])
  func `source may have no data yet`(length: Int64?) async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let body = PieceSource.body(
      [.later, .bytes([1, 2]), .later, .later, .bytes([3, 4]), .later], length: length,
      onLater: { flow in Thread.detachNewThread { flow.resume() } })
    #expect(try await APIClient(baseURL: server.url).send(Upload(body)) == "taken")
    #expect(try await server.request(number: 1).body == [1, 2, 3, 4])
  }

  @Test func `pause at announced length ends body`() async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let body = PieceSource.body([.bytes([1, 2]), .later, .bytes([3])], length: 2)
    #expect(try await APIClient(baseURL: server.url).send(Upload(body)) == "taken")
    #expect(try await server.request(number: 1).body == [1, 2])
  }

  @Test func `error of a source is the cause`() async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let client = APIClient(baseURL: server.url)
    let broken = RequestBody.stream { _ in throw PieceSource.Fault() }
    for body in [PieceSource.body([.bytes([1]), .fail]), PieceSource.body([.fail], length: 9), broken] {
      let error = try await failure(client, Upload(body))
      #expect(error.transportKind == .bodySource && error.cause is PieceSource.Fault, "\(error)")
    }
    #expect(server.requests.isEmpty)
    #expect(try await client.send(Upload(nil)) == "taken")
  }

  @Test(arguments: [Int64(2), 4])
  func `source must match its length`(length: Int64) async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let client = APIClient(baseURL: server.url)
    for steps: [PieceSource.Step] in [[.bytes([1, 2, 3])], [.bytes([1]), .bytes([2]), .bytes([3])]] {
      let error = try await failure(client, Upload(PieceSource.body(steps, length: length)))
      #expect(error.transportKind == .bodyChanged && error.message.contains("announced"), "\(error)")
    }
    #expect(server.requests.isEmpty)
    _ = try await client.send(Upload(nil))
    #expect(try await server.request(number: 1).connection == 3)
  }

  @Test func `cancel releases the source`() async throws {
    let gate = Gate()
    let server = try LoopbackServer(.uploads(keeping: 0, .held(gate))) { _ in .ok() }
    let client = APIClient(baseURL: server.url)
    let log = PieceSource.Log()
    async let outcome = client.outcome(of: Upload(.stream { _ in EndlessSource(log) }))
    try await gate.reached()
    client.cancelAll()
    #expect(await outcome.error?.stage == .cancelled)
    gate.open()
    try await server.wait { $0.openConnectionCount == 0 }
    #expect(log.closed == 1)
  }

  @Test func `server that stops reading times out`() async throws {
    let gate = Gate()
    let server = try LoopbackServer(.uploads(keeping: 0, .held(gate))) { _ in .ok() }
    let request = Upload(.stream { _ in EndlessSource(.init()) }) {
      $0.timeouts = Timeouts(idle: .milliseconds(200))
    }
    let error = try await failure(APIClient(baseURL: server.url), request)
    #expect(error.transportKind == .idleTimeout)
  }

  @Test func `source without data does not time out`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let request = Upload(PieceSource.body([.bytes([1]), .later])) {
      $0.timeouts = Timeouts(idle: .milliseconds(300), total: .seconds(1))
    }
    #expect(try await failure(APIClient(baseURL: server.url), request).stage == .deadline)
  }

  @Test func `early response ends the upload`() async throws {
    let server = try LoopbackServer(.uploads(keeping: 0, .never)) { _ in .status(413, body: "too much") }
    let client = APIClient(baseURL: server.url)
    for length in [Int64(64 << 20), nil] {
      let log = PieceSource.Log()
      let error = try await failure(client, Upload(.stream(length: length) { _ in EndlessSource(log) }))
      #expect(error.status == 413 && error.response?.body == Data("too much".utf8), "\(error)")
      #expect(log.closed == log.opened)
    }
  }

  /// A reset may arrive before the response that precedes it (RFC 9112 section 9.6); the operating system decides.
  /// `CurlUnreadResponseTests` covers responses that are certainly readable.
  @Test func `reset yields a response or a failure`() async throws {
    for _ in 1...4 {
      let error = try await errorBehindReset()
      if error.status == 413 {
        #expect(error.response?.body == Data("too much".utf8), "\(error)")
      } else {
        let kind = try #require(error.transportKind, "\(error)")
        #expect([.closedBeforeResponse, .reset].contains(kind), "\(error)")
      }
    }
  }

  /// The error of an upload for which the server responds, closes and so resets the connection while the
  /// transport's thread is blocked.
  private func errorBehindReset() async throws -> APIError {
    let (asked, gone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let server = try LoopbackServer(.uploads(keeping: 0, .never)) { _ in
      asked.wait()
      return .status(413, body: "too much")
    }
    let hold = PieceSource.Step.hold {
      asked.signal()
      gone.wait()
    }
    let piece = PieceSource.Step.bytes([UInt8](repeating: 1, count: 100_000))
    let body = PieceSource.body([piece, hold, piece, piece], length: 300_000)
    let client = APIClient(baseURL: server.url)
    async let outcome = client.outcome(of: Upload(body))
    try await server.wait { $0.connectionCount == 1 && $0.openConnectionCount == 0 }
    gone.signal()
    return try #require(await outcome.error)
  }

  @Test func `early response ends a waiting source`() async throws {
    let server = try LoopbackServer(.uploads(.afterAnswer)) { _ in .status(403) }
    let error = try await failure(APIClient(baseURL: server.url), Upload(PieceSource.body([.bytes([1]), .later])))
    #expect(error.status == 403, "\(error)")
  }

  @Test(
    arguments: [
      ("HTTP/1.1 403 No\r\nConnection: close\r\n\r\nno", 403, nil), ("HTTP/1.1 403 No\r\n\r\nno", 403, nil),
      ("HTTP/1.0 403 No\r\n\r\nno", 403, nil),
      ("HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nno", nil, TransportFailure.Kind.truncated),
      ("", nil, .closedBeforeResponse),
    ] as [(String, Int?, TransportFailure.Kind?)])
  func `closing server ends a waiting source`(
    text: String, status: Int?, kind: TransportFailure.Kind?
  ) async throws {
    let server = try LoopbackServer(.uploads(.afterAnswer)) { _ in
      .raw(text).halfClosed(after: text.utf8.count, of: .everything)
    }
    let error = try await failure(APIClient(baseURL: server.url), Upload(PieceSource.body([.bytes([1]), .later])))
    #expect(error.status == status && error.transportKind == kind, "\(error)")
  }

  @Test func `pausing sink keeps an early response`() async throws {
    let server = try LoopbackServer(.uploads(.afterAnswer)) { _ in .ok("ok") }
    let uploads = Recorded<BodyFlow>()
    let body = PieceSource.body(
      [.bytes([1]), .later, .bytes([2]), .later], onLater: { uploads.append($0) })
    let sink = PausingSink { uploads.all.first?.resume() }
    let options = CallOptions(bodySink: sink)
    let outcome = await APIClient(baseURL: server.url).outcome(of: Upload(body), options: options)
    #expect(outcome.response?.status == 200 && sink.ended.all == ["ok"], "\(outcome.error?.message ?? "")")
  }

  /// Pauses at the body, runs a closure, and resumes the body on another thread.
  private final class PausingSink: BodySink {
    let ended = Recorded<String>()
    private let came = Recorded<String>()
    private let flow = Recorded<BodyFlow>()
    private let meanwhile: @Sendable () -> Void

    init(_ meanwhile: @escaping @Sendable () -> Void) { self.meanwhile = meanwhile }

    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition {
      self.flow.append(flow)
      return .sink
    }

    func write(_ piece: UnsafeRawBufferPointer) -> Bool {
      came.append(String(decoding: piece, as: UTF8.self))
      meanwhile()
      Thread.detachNewThread { [flow] in flow.all.first?.resume() }
      return false
    }

    func end() { ended.append(came.all.joined()) }
  }

  // MARK: - Asynchronous sequences

  @Test func `pieces of a sequence arrive`() async throws {
    let server = try LoopbackServer { _ in .ok("taken") }
    let (pieces, maker) = AsyncStream.makeStream(of: [UInt8].self)
    Task {
      for number in 0..<100 {
        maker.yield([UInt8(number), 0])
        await Task.yield()
      }
      maker.finish()
    }
    #expect(try await APIClient(baseURL: server.url).send(Upload(.pieces(pieces))) == "taken")
    #expect(try await server.request(number: 1).body == (0..<100).flatMap { [UInt8($0), 0] })
  }

  @Test func `error of a sequence is the cause`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let pieces = AsyncThrowingStream<Data, any Error> { maker in
      maker.yield(Data([1]))
      maker.finish(throwing: PieceSource.Fault())
    }
    let error = try await failure(APIClient(baseURL: server.url), Upload(.pieces(pieces)))
    #expect(error.transportKind == .bodySource && error.cause is PieceSource.Fault)
    #expect(server.requests.isEmpty)
  }

  @Test func `sequence is read only slightly ahead`() async throws {
    let gate = Gate()
    let server = try LoopbackServer(.uploads(keeping: 0, .held(gate))) { _ in .ok("taken") }
    let made = Recorded<Int>()
    let pieces = AsyncStream<Data>(unfolding: {
      guard made.count < 4_096 else { return nil }
      made.append(made.count)
      return Data(count: 16 << 10)
    })
    let request = Upload(.pieces(pieces)) { $0.timeouts = Timeouts(idle: .milliseconds(300)) }
    async let outcome = APIClient(baseURL: server.url).outcome(of: request)
    try await gate.reached()
    #expect(await outcome.error?.transportKind == .idleTimeout)
    // The sequence has 64 MiB in total; sockets buffer some, and the source's buffer a quarter of a MiB.
    #expect(made.count < 2_048)
  }

  @Test func `sequence ends with its call`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let (asked, ended) = (Latch(), Latch())
    let pieces = AsyncStream<Data>(
      unfolding: {
        try? await asked.wait()
        return nil
      }, onCancel: { ended.open() })
    let client = APIClient(baseURL: server.url)
    async let outcome = client.outcome(of: Upload(.pieces(pieces)))
    await asked.reached()
    client.cancelAll()
    #expect(await outcome.error?.stage == .cancelled)
    try await ended.wait()
  }

  /// The request of the guide.
  private struct PutLog: APIRequest {
    let body: RequestBody?
    var path: Path { "/log" }
    var method: HTTPMethod { .put }
    typealias Response = Nothing

    init(lines: AsyncStream<Data>) { body = .pieces(lines, type: "text/plain") }
  }

  @Test func `stored sequence fails in second call`() async throws {
    let (lines, input) = AsyncStream.makeStream(of: Data.self)
    for line in ["a\n", "b\n"] { input.yield(Data(line.utf8)) }
    input.finish()
    let request = PutLog(lines: lines)
    let bench = ScriptedClient()
    #expect(try await bench.sent(request)?.text == "a\nb\n")
    let error = await bench.failure(of: request)
    #expect(error?.stage == .build && error?.code == .invalidBody)
    #expect(bench.transport.requests.count == 1)
  }
}
