import CNGHTTP2
@testable import ErrandEngine
@testable import ErrandDecoding
@testable import ErrandHTTP
import Glibc

/// A connection of the engine over HTTP/2 to a server that a fuzz target plays, with its requests. The engine's loop
/// has no thread: the target takes the loop's turns itself, so that a run is always the same.
final class HTTP2Link {
  /// The variants of a run.
  struct Choice {
    /// The method of the first request is HEAD.
    var isHead = false
    /// A second request, with the method GET, shares the connection.
    var hasSecond = false
    /// The content goes to a sink instead of memory.
    var hasSink = false
    /// The sink pauses after each piece.
    var pauses = false
    /// A paused sink continues only when the server has sent everything. Otherwise it continues after each received
    /// piece.
    var continuesLate = false
  }

  /// The result of a request.
  enum Outcome: Equatable {
    /// The request would be sent again on another connection.
    case moved
    case failed(String)
    case response(status: Int, fields: [String], content: [UInt8], trailers: [String], isCut: Bool)
  }

  private static let small = ResponseLimits(bodyBytes: 4096, headBytes: 512, fieldCount: 8, informationalCount: 2)

  let exchanges: [EngineExchange]
  let sinks: [HTTP2Sink?]
  /// All bytes that the client has sent.
  private(set) var sent: [UInt8] = []
  private let choice: Choice
  private let loop = HTTP2Link.nextLoop()
  private let connection: HTTP2Connection
  private var server: Int32
  private var moved: Set<Int> = []

  /// Opens the connection and sends the requests. Returns nil if the system has no resources.
  init?(_ choice: Choice) {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard loop.isUsable, socketpair(AF_UNIX, kind, 0, &pair) == 0, let address = SocketAddress(socket: "/server"),
      let url = try? HTTPURL("http://127.0.0.1/")
    else { return nil }
    self.choice = choice
    server = pair[1]
    let methods: [HTTPMethod] = [choice.isHead ? .head : .get] + (choice.hasSecond ? [.get] : [])
    sinks = methods.map { _ in choice.hasSink ? HTTP2Sink(pauses: choice.pauses) : nil }
    exchanges = zip(methods, sinks).map { method, sink in
      EngineExchange(Exchange(request: HTTPRequest(method: method, url: url), limits: Self.small, sink: sink))
    }
    for exchange in exchanges { exchange.slot = loop.watches.insert(exchange) }
    let first = exchanges[0]
    let token = loop.sockets.insert(.connector(EngineConnector(first, loop)))
    loop.connectedHTTP2(first, EngineSocket(descriptor: pair[0]), token, address)
    guard let stream = first.stream else { return nil }
    connection = stream.connection
    for other in exchanges.dropFirst() { connection.begin(other) }
    settle()
  }

  deinit { if server >= 0 { close(server) } }

  /// True if the connection has not ended.
  var isOpen: Bool { connection.isOpen }

  // MARK: - Memory of several runs

  // libFuzzer calls on one thread only.
  nonisolated(unsafe) private static let scratch = UnsafeMutableRawBufferPointer.allocate(
    byteCount: 64 << 10, alignment: 16)
  nonisolated(unsafe) private static var lastLoop: (loop: EngineLoop, runs: Int)?

  /// A loop that knows no server. Its large buffers are used for many runs.
  private static func nextLoop() -> EngineLoop {
    if lastLoop == nil || lastLoop?.runs == 100 { lastLoop = (EngineLoop(EngineConfiguration()), 0) }
    guard let (loop, runs) = lastLoop else { fatalError("unreachable") }
    lastLoop = (loop, runs + 1)
    loop.streamLimits = [:]
    return loop
  }

  // MARK: - Turns of the loop

  /// Sends bytes of the server, and lets the client receive them.
  func receive(_ bytes: UnsafeRawBufferPointer) {
    var start = 0
    while start < bytes.count, isOpen {
      let count = send(server, bytes.baseAddress.map { $0 + start }, bytes.count - start, Int32(MSG_NOSIGNAL))
      check(count > 0, "the client takes all bytes")
      start += count
      takeTurn()
    }
  }

  private func takeTurn() {
    loop.beginTurn()
    connection.readable()
    settle()
    if !choice.continuesLate { resume() }
    checkMemory()
  }

  /// Performs the work that the loop's thread performs at the end of a turn.
  private func settle() {
    var turns = 0
    while continueOne() {
      turns += 1
      check(turns < 1000, "the work ends")
    }
    takeSent()
  }

  /// Continues with the connection or a stream. Returns false if there is no work.
  private func continueOne() -> Bool {
    loop.beginTurn()
    let unflushed = loop.unflushed
    loop.unflushed = []
    for connection in unflushed { connection.flush() }
    for exchange in loop.unplaced {
      guard let place = exchanges.firstIndex(where: { $0 === exchange }) else { continue }
      check(exchange.result == nil, "a request that is sent again has no result")
      moved.insert(place)
    }
    loop.unplaced = []
    var queued: [any LoopWork] = exchanges.compactMap(\.stream)
    queued.append(connection)
    queued = queued.filter { $0.isQueued && $0.isOpen }
    for work in queued {
      work.isQueued = false
      work.continueTurn()
    }
    return !queued.isEmpty || !unflushed.isEmpty
  }

  /// Lets the paused sinks continue.
  private func resume() {
    for exchange in exchanges where exchange.isPaused {
      loop.beginTurn()
      loop.resumeBody(exchange)
    }
    settle()
  }

  private func takeSent() {
    let buffer = Self.scratch
    while case let count = recv(server, buffer.baseAddress, buffer.count, 0), count > 0 { sent += buffer[..<count] }
  }

  /// The server can make the client keep no more bytes than the window of a stream allows.
  private func checkMemory() {
    for (exchange, sink) in zip(exchanges, sinks) {
      guard let sink, sink.isPlain, let stream = exchange.stream else { continue }
      let kept = stream.machine.contentBytes - Int64(sink.content.count)
      check(kept <= Int64(HTTP2Session.streamWindow), "a stream keeps no more than its window")
    }
  }

  // MARK: - The end

  /// Ends the connection from the server's side, and lets the client finish its requests.
  func finish(isReset: Bool) {
    // The system resets a connection if unread bytes are left when it is closed.
    if isReset, isOpen {
      connection.ping()
      loop.unflushed = []
      connection.flush()
    }
    if isReset {
      close(server)
      server = -1
    } else {
      shutdown(server, Int32(SHUT_WR))
    }
    takeTurn()
    check(!isOpen && !connection.acceptsStreams && connection.streams.isEmpty, "a connection ends with its socket")
    var turns = 0
    while hasUnfinished {
      resume()
      turns += 1
      check(turns < 1000, "each request ends")
    }
    check(loop.sockets.count == 0, "the socket is closed")
    for place in moved { if let slot = exchanges[place].slot { loop.watches.remove(slot) } }
    check(loop.watches.count == 0, "an exchange that has ended is not watched")
    connection.readable()
    connection.flush()
  }

  private var hasUnfinished: Bool {
    exchanges.indices.contains { exchanges[$0].result == nil && !moved.contains($0) }
  }

  /// The failures of the requests, and the errors of the connection, for the report of a finding.
  var explanation: String {
    let failures = exchanges.compactMap { exchange in
      if case .failure(let error) = exchange.result { "\(error)" } else { nil }
    }
    return (failures + [connection.fault, connection.invalidFrame].compactMap { $0 }).joined(separator: "; ")
  }

  /// The result of a request.
  func outcome(of place: Int) -> Outcome {
    switch exchanges[place].result {
    case nil: return .moved
    case .failure(let error):
      let failure = error as? TransportFailure
      check(failure?.isCertainlyNotSent != true, "the request was sent")
      return .failed(failure?.kind.rawValue ?? "\(error)")
    case .success(let response):
      check(sinks[place].map { $0.hasEnded || $0.head == nil } ?? true, "a sink is told that its body is complete")
      return .response(
        status: response.status, fields: response.fields.all.map { "\($0.name.rawValue): \($0.value)" },
        content: sinks[place]?.content ?? Array(response.body),
        trailers: response.trailers.all.map { "\($0.name.rawValue): \($0.value)" }, isCut: response.isCut)
    }
  }
}

/// Collects the content of a response.
final class HTTP2Sink: BodySink, @unchecked Sendable {  // used on one thread
  private struct TooMuch: Error {}
  private static let most = 8 << 20

  let pauses: Bool
  private(set) var content: [UInt8] = []
  private(set) var head: ResponseHead?
  private(set) var hasEnded = false

  init(pauses: Bool) { self.pauses = pauses }

  /// True if the content needs no decoding, or has not begun.
  var isPlain: Bool { head?.fields["Content-Encoding"] == nil }

  func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition {
    check(self.head == nil, "a response begins once")
    self.head = head
    return .sink
  }

  func write(_ piece: UnsafeRawBufferPointer) throws -> Bool {
    check(head != nil && !hasEnded, "content arrives between the headers and the end")
    guard content.count + piece.count <= Self.most else { throw TooMuch() }
    content += piece
    return !pauses
  }

  func end() {
    check(!hasEnded, "a body ends once")
    hasEnded = true
  }
}
