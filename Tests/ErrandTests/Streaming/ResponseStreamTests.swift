@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Response bodies that are read while they arrive, over real sockets.
struct ResponseStreamTests {
  private struct Get: APIRequest {
    typealias Response = String
    typealias ErrorBody = String
    var path: Path = "/stream"
    var retries: RetryPolicy = .inherited
  }

  private func client(_ server: LoopbackServer, _ change: (inout ClientConfiguration) -> Void = { _ in }) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    change(&configuration)
    return APIClient(configuration)
  }

  private func whole(_ stream: ResponseStream) async throws -> Data {
    var whole = Data()
    for try await piece in stream { whole.append(piece) }
    return whole
  }

  @Test(arguments: [true, false]) func `bodies of two attempts never mix`(isHandle: Bool) async throws {
    struct Again: Interceptor {
      func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
        do { return try await next(request) } catch { return try await next(request) }
      }
    }
    let server = try LoopbackServer()
    server.enqueue(.ok("abcdef").cut(after: 3), .ok("abcdef"))
    let client = client(server) { $0.interceptors.exchanges = [Again()] }
    if isHandle {
      let pipe = Pipe()
      let error = await #expect(throws: APIError.self) {
        _ = try await client.send(Get(), into: pipe.fileHandleForWriting)
      }
      #expect(error?.message.contains("a second response started") == true)
    } else {
      await #expect(throws: APIError.self) { _ = try await whole(try await client.stream(Get())) }
    }
  }

  @Test func `pieces arrive before the end`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .chunked(["one", "two"]).dripped(13, of: .body, through: gate) }
    let client = client(server)
    gate.letPass()
    let stream = try await client.stream(Get())
    #expect(stream.status == 200 && stream.fields["Transfer-Encoding"] != nil)
    var pieces = stream.makeAsyncIterator()
    let first = try await pieces.next()
    #expect(first.map { !$0.isEmpty && $0.count < 6 } == true || first == Data("onetwo".utf8))
    gate.open()
    #expect(try await whole(stream) + (first ?? Data()) != Data())
    #expect(server.requests.count == 1)
  }

  @Test func `large body is complete`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 5_000_000) }
    let body = try await whole(client(server).stream(Get()))
    #expect(body.count == 5_000_000)
    #expect(body.enumerated().allSatisfy { $1 == LoopbackAnswer.generatedByte(at: $0) })
    #expect(server.requests.count == 1)
  }

  @Test func `slow reader slows the server`() async throws {
    let server = try LoopbackServer { _ in .endless() }
    let client = client(server)
    let stream = try await client.stream(Get())
    #expect(await eventually { stream.lease.sink.isPaused })
    let bufferedBytes = stream.lease.sink.bufferedBytes
    #expect(bufferedBytes <= StreamMachine.limit + (512 << 10))
    var pieces = stream.makeAsyncIterator()
    var read = 0
    while read < 8 << 20 { read += try await pieces.next()?.count ?? 0 }
    stream.cancel()
    await #expect(throws: APIError.self) { while try await pieces.next() != nil {} }
    #expect(await eventually { client.running.isEmpty && client.admission == (0, 0) })
    #expect(server.requests.count == 1)
  }

  /// More than the transport and the operating system can buffer without a reader, if the server's own buffer is small.
  private static var mostUnread: Int {
    let sizes = (try? String(contentsOfFile: "/proc/sys/net/ipv4/tcp_rmem", encoding: .utf8)) ?? ""
    let window = sizes.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 8 << 20
    return window + (2 << 20)
  }

  private func read(_ count: Int, by pieces: inout ResponseStream.Iterator) async throws {
    var read = 0
    while read < count, let piece = try await pieces.next() { read += piece.count }
    #expect(read >= count)
  }

  @Test func `pause reaches the server's socket`() async throws {
    var options = LoopbackOptions()
    options.sendBuffer = 64 << 10
    let server = try LoopbackServer(options) { _ in .endless() }
    let other = try LoopbackServer { _ in .endless() }
    let stream = try await client(server).stream(Get())
    #expect(await eventually { stream.lease.sink.isPaused })
    // Meanwhile twice the buffered amount of the paused stream passes over the same thread.
    var elsewhere = try await client(other).stream(Get()).makeAsyncIterator()
    try await read(2 * Self.mostUnread, by: &elsewhere)
    #expect(server.record.sentCount <= Self.mostUnread && stream.lease.sink.isPaused)
    var pieces = stream.makeAsyncIterator()
    try await read(2 * Self.mostUnread, by: &pieces)
    #expect(await eventually { server.record.sentCount >= 2 * Self.mostUnread })
    stream.cancel()
    #expect(server.requests.count == 1 && other.requests.count == 1)
  }

  @Test(arguments: [204, 200]) func `empty body has no pieces`(status: Int) async throws {
    let server = try LoopbackServer { _ in .status(status) }
    let stream = try await client(server).stream(Get())
    #expect(stream.status == status)
    #expect(try await whole(stream).isEmpty)
    #expect(server.requests.count == 1)
  }

  @Test func `rejected response is thrown with its body`() async throws {
    let server = try LoopbackServer { _ in .status(404, body: "not here") }
    let error = await #expect(throws: APIError.self) { try await client(server).stream(Get()) }
    #expect(error?.status == 404 && error?.body(as: String.self) == "not here")
    #expect(server.requests.count == 1)
  }

  @Test func `interruption is thrown after the pieces`() async throws {
    let server = try LoopbackServer { _ in .ok("half of it").cut(after: 4) }
    let stream = try await client(server).stream(Get(retries: RetryPolicy(firstDelay: .zero)))
    var pieces = stream.makeAsyncIterator()
    #expect(try await pieces.next() == Data("half".utf8))
    let error = await #expect(throws: APIError.self) { _ = try await pieces.next() }
    #expect(error?.transportKind == .truncated)
    #expect(server.requests.count == 1, "delivered pieces cannot be taken back")
  }

  @Test func `iterator ends after its error`() async throws {
    let server = try LoopbackServer { _ in .ok("half of it").cut(after: 4) }
    let client = client(server)
    var pieces = try await client.stream(Get()).makeAsyncIterator()
    #expect(try await pieces.next() == Data("half".utf8))
    await #expect(throws: APIError.self) { _ = try await pieces.next() }
    #expect(try await pieces.next() == nil)
    var lines = try await client.stream(Get()).lines.makeAsyncIterator()
    await #expect(throws: APIError.self) { _ = try await lines.next(isolation: #isolation) }
    #expect(try await lines.next(isolation: #isolation) == nil, "the incomplete line is not returned")
    #expect(server.requests.count == 2)
  }

  @Test func `busy server is retried before the body`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.status(503), .ok("now"))
    let stream = try await client(server).stream(Get(retries: RetryPolicy(firstDelay: .zero, busyDelay: .zero)))
    #expect(try await whole(stream) == Data("now".utf8))
    #expect(server.requests.count == 2)
  }

  @Test func `redirect is followed`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/stream" ? .redirect(to: "/other") : .ok("there")
    }
    #expect(try await whole(client(server).stream(Get())) == Data("there".utf8))
    #expect(server.requests.count == 2)
  }

  @Test func `cancelled task ends the call`() async throws {
    let server = try LoopbackServer { _ in .ok("much").stalled(after: 2) }
    let client = client(server)
    let first = Latch()
    let reading = Task {
      var pieces = try await client.stream(Get()).makeAsyncIterator()
      _ = try await pieces.next()
      first.open()
      return try await pieces.next()
    }
    try await first.wait()
    reading.cancel()
    let error = await #expect(throws: APIError.self) { try await reading.value }
    #expect(error?.isCancelled == true)
    #expect(await eventually { client.running.isEmpty })
    #expect(server.requests.count == 1)
  }

  @Test func `cancelled task ends a slow loop`() async throws {
    let server = try LoopbackServer { _ in .endless() }
    let client = client(server)
    let stream = try await client.stream(Get())
    let first = Latch()
    let reading = Task {
      var read = 0
      for try await piece in stream {
        first.open()
        read += piece.count
        // Without an error, the loop ends after 1 GiB.
        if read > 1 << 30 { break }
        // Further pieces are buffered before the loop continues, so it never waits for the server.
        guard await eventually({ stream.lease.sink.isPaused || client.running.isEmpty }) else { break }
      }
    }
    try await first.wait()
    reading.cancel()
    let error = await #expect(throws: APIError.self) { try await reading.value }
    #expect(error?.isCancelled == true)
    #expect(await eventually { client.running.isEmpty && client.admission == (0, 0) })
    #expect(server.requests.count == 1)
  }

  @Test func `cancel before the response headers throws`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok().held(at: gate) }
    let client = client(server)
    let opening = Task { try await client.stream(Get()) }
    try await gate.reached()
    opening.cancel()
    let error = await #expect(throws: APIError.self) { try await opening.value }
    #expect(error?.isCancelled == true)
    gate.open()
    #expect(server.requests.count == 1)
  }

  @Test func `unused stream is cancelled`() async throws {
    let server = try LoopbackServer { _ in .endless() }
    let client = client(server)
    _ = try await client.stream(Get())
    #expect(await eventually { client.running.isEmpty && client.admission == (0, 0) })
    #expect(server.requests.count == 1)
  }

  @Test func `deadline applies if set`() async throws {
    let clock = ManualClock()
    let server = try LoopbackServer { _ in .ok("much").stalled(after: 2) }
    let client = client(server) { $0.timers = clock }
    var pieces = try await client.stream(Get(), options: .deadline(.seconds(5))).makeAsyncIterator()
    #expect(try await pieces.next() == Data("mu".utf8))
    clock.advance(by: .seconds(6))
    let error = await #expect(throws: APIError.self) { _ = try await pieces.next() }
    #expect(error?.stage == .deadline)
    #expect(server.requests.count == 1)
  }

  @Test func `interceptor's own response is one piece`() async throws {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.interceptors.calls = [Answering()]
    let stream = try await APIClient(configuration).stream(Get())
    #expect(try await whole(stream) == Data("made here".utf8))
  }

  @Test(arguments: [true, false]) func `interceptor's own response reaches a handle`(isOfCall: Bool) async throws {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.interceptors = isOfCall ? Interceptors(calls: [Answering()]) : Interceptors(exchanges: [Answering()])
    let pipe = Pipe()
    let answer = try await APIClient(configuration).send(Get(), into: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    #expect(answer.status == 200 && answer.body.isEmpty)
    #expect(try pipe.fileHandleForReading.readToEnd() == Data("made here".utf8))
  }

  @Test func `handle that accepts nothing fails the call`() async throws {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.interceptors.calls = [Answering()]
    let client = APIClient(configuration)
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let error = await #expect(throws: APIError.self) {
      _ = try await client.send(Get(), into: pipe.fileHandleForWriting)
    }
    #expect(error?.code == .sink)
  }

  private struct Answering: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      HTTPResponse(head: ResponseHead(status: 200), body: Data("made here".utf8), url: request.url)
    }
  }

  /// Returns a response of its own if the exchange fails.
  private struct Hiding: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      do { return try await next(request) } catch {
        return HTTPResponse(head: ResponseHead(status: 200), body: Data("made here".utf8), url: request.url)
      }
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `interceptor cannot replace a cut body`(isHandle: Bool, isOfCall: Bool) async throws {
    let server = try LoopbackServer { _ in .ok("half of it").cut(after: 4) }
    let client = client(server) {
      $0.interceptors = isOfCall ? Interceptors(calls: [Hiding()]) : Interceptors(exchanges: [Hiding()])
    }
    let error: APIError?
    if isHandle {
      let pipe = Pipe()
      error = await #expect(throws: APIError.self) {
        _ = try await client.send(Get(), into: pipe.fileHandleForWriting)
      }
    } else {
      var pieces = try await client.stream(Get()).makeAsyncIterator()
      #expect(try await pieces.next() == Data("half".utf8))
      error = await #expect(throws: APIError.self) { _ = try await pieces.next() }
    }
    #expect(error?.stage == .interceptor && error?.message.contains("ended too early") == true, "\(error as Any)")
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [204, 200]) func `interceptor passes an empty body on`(status: Int) async throws {
    let server = try LoopbackServer { _ in .status(status) }
    let client = client(server) { $0.interceptors.exchanges = [Hiding()] }
    let stream = try await client.stream(Get())
    #expect(try await whole(stream).isEmpty && stream.status == status)
  }

  // MARK: - Lines and values

  private struct Row: Decodable, Sendable, Equatable { let n: Int }

  @Test func `lines start after the byte order mark`() async throws {
    let server = try LoopbackServer { _ in .chunked(["\u{FEFF}a\n", "\u{FEFF}b\n"]) }
    var lines: [String] = []
    for try await line in try await client(server).stream(Get()).lines { lines.append(line) }
    #expect(
      lines.map { Array($0.utf8) } == [[0x61], [0xEF, 0xBB, 0xBF, 0x62]], "a later byte order mark is a character")
  }

  @Test func `lines arrive one by one`() async throws {
    let server = try LoopbackServer { _ in .chunked(["a\r\nb", "c\n", "\nlast"]) }
    var lines: [String] = []
    for try await line in try await client(server).stream(Get()).lines { lines.append(line) }
    #expect(lines == ["a", "bc", "", "last"] && server.requests.count == 1)
  }

  @Test func `values arrive one by one`() async throws {
    let server = try LoopbackServer { _ in .chunked(["{\"n\":1}\n{\"n\"", ":2}\r\n\n", "{\"n\":3}"]) }
    var rows: [Row] = []
    for try await row in try await client(server).stream(Get()).values(of: Row.self) { rows.append(row) }
    #expect(rows == [1, 2, 3].map(Row.init) && server.requests.count == 1)
  }

  @Test func `undecodable line is named`() async throws {
    let server = try LoopbackServer { _ in .ok("{\"n\":1}\n{\"n\":\"x\"}\n{\"n\":3}\n") }
    let client = client(server)
    var rows: [Row] = []
    let error = await #expect(throws: APIError.self) {
      for try await row in try await client.stream(Get()).values(of: Row.self) { rows.append(row) }
    }
    #expect(error?.stage == .decode && error?.message.hasPrefix("Line 2 of the response") == true, "\(error as Any)")
    #expect(error?.message.contains("$.n") == true && rows == [Row(n: 1)] && server.requests.count == 1)
  }

  @Test func `long and non-UTF-8 lines are refused`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/stream"
        ? .ok(String(repeating: "x", count: 2_000)).stalled(after: 1_999) : .data(Data([0x61, 0x0A, 0xFF, 0x0A]))
    }
    let client = client(server)
    let long = await #expect(throws: APIError.self) {
      for try await _ in try await client.stream(Get()).values(of: Row.self, limit: 1_000) {}
    }
    #expect(long?.message == "A line of the response has more than 1000 bytes; raise `limit` to allow more bytes.")
    let foreign = await #expect(throws: APIError.self) {
      for try await line in try await client.stream(Get(path: "/foreign")).lines { #expect(line == "a") }
    }
    #expect(foreign?.message == "Line 2 of the response is not UTF-8.")
    #expect(await eventually { client.running.isEmpty })
    #expect(server.requests.count == 2)
  }
}
