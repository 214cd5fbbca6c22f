/// A real HTTP/1.1 server on this machine, for tests: it answers as told, records what came, and can do wrong.
///
/// ```swift
/// let server = try LoopbackServer { request in
///   switch request.path {
///   case "/user": .json(#"{"nick":"x"}"#)
///   default: .status(404)
///   }
/// }
/// let client = APIClient(baseURL: server.url)
/// let user = try await client.send(GetUser(id: 7))
/// let seen = try await server.request(number: 1)
/// #expect(seen.headers["Accept"] == "application/json")
/// ```
///
/// Instead of a handler, or before it, answers can be enqueued; each is for one request, in the order in which the
/// requests come:
///
/// ```swift
/// server.enqueue(.status(503), .ok("hello").cut(after: 2), .ok("hello"))
/// ```
///
/// The server listens on 127.0.0.1 (or ::1) at a port that the system chooses. Each connection has a thread of its
/// own; the handler is called there, at times on several threads at once, and may block. The server ends with
/// ``stop()`` or when the last reference to it goes, so keep one to the end of the test: what the test has left
/// open is closed then. A handler that needs the server must hold it weakly.
public final class LoopbackServer: Sendable {
  private let core: LoopbackCore

  /// The port that the server listens on.
  public let port: Int
  /// The address as a URL without a path, such as `http://127.0.0.1:41234`.
  public let url: String

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - options: How to listen and read.
  ///   - handler: Gives the answer to a request when no answer is enqueued. Called on the connection's thread.
  /// - Throws: ``LoopbackError/system(call:code:)`` when no port can be had.
  public init(
    _ options: LoopbackOptions = LoopbackOptions(),
    handler: @escaping @Sendable (RecordedRequest) -> LoopbackAnswer
  ) throws {
    let listener = try LoopbackListener(options.address)
    port = listener.port
    url = "http://\(listener.host):\(listener.port)"
    core = LoopbackCore(options: options, handler: handler)
    try core.start(listener)
    LeakCheck.current?.watch(self, "LoopbackServer")
  }

  /// Starts a server that gives the enqueued answers and then 500 with a text that says so.
  ///
  /// - Throws: ``LoopbackError/system(call:code:)`` when no port can be had.
  public convenience init(_ options: LoopbackOptions = LoopbackOptions()) throws {
    try self.init(options) { request in
      .status(500, body: "LoopbackServer: no answer is enqueued for \(request.method) \(request.target)\n")
    }
  }

  deinit { core.end() }

  /// Closes the port and every connection, ends the threads and returns when that is done; can be called again.
  ///
  /// Waits at a gate, drips and endless bodies end at once. A handler that blocks is waited for, at most ten seconds.
  public func stop() {
    core.end()
  }

  /// Adds answers to the script, each for one request; the handler is asked when the script is empty.
  ///
  /// - Parameters:
  ///   - answers: The answers in order.
  ///   - reception: When to read the bodies of these requests.
  public func enqueue(_ answers: LoopbackAnswer..., reception: LoopbackReception = .automatic) {
    core.enqueue(answers.map { LoopbackCore.Scripted(answer: $0, reception: reception) })
  }
}

// MARK: - What was seen

extension LoopbackServer {
  /// All that was seen so far, as of one moment.
  public var record: LoopbackRecord { core.observed.value }

  /// The requests so far, each noted before its answer began.
  public var requests: [RecordedRequest] { record.requests }

  /// How many connections were accepted so far.
  public var connectionCount: Int { record.connectionCount }

  /// How many connections are open now.
  public var openConnectionCount: Int { record.openConnectionCount }

  /// Returns the request with the given number, from 1, once it has come.
  ///
  /// - Throws: ``LoopbackError/notReached(_:within:)`` when `bound` has passed, ``LoopbackError/stopped(waitingFor:)``
  ///   when the server is stopped first, `CancellationError` when the task is cancelled.
  @discardableResult
  public func request(number: Int, within bound: Duration = .seconds(30)) async throws -> RecordedRequest {
    let number = max(1, number)
    try await core.observed.wait(for: "request \(number)", within: bound) { $0.requests.count >= number }
    return requests[number - 1]
  }

  /// Returns once what was seen meets a condition, such as `{ $0.openConnectionCount == 0 }`.
  ///
  /// - Parameters:
  ///   - bound: How long to wait at most.
  ///   - condition: Asked after each change, under a lock: it must be quick and must not call the server.
  /// - Throws: As ``request(number:within:)``.
  public func wait(
    within bound: Duration = .seconds(30), until condition: @escaping @Sendable (LoopbackRecord) -> Bool
  ) async throws {
    try await core.observed.wait(for: "a condition on the record", within: bound, until: condition)
  }
}

/// What a ``LoopbackServer`` has seen so far: a value, as of one moment.
public struct LoopbackRecord: Sendable {
  /// The requests in the order in which their answers began.
  public internal(set) var requests: [RecordedRequest] = []
  /// Requests whose client left before their body was whole; they have no number and got no answer.
  public internal(set) var abandoned: [RecordedRequest] = []
  /// Why input was refused with 400 as no HTTP/1.x request, in order; also when the system had no descriptor left
  /// for a gate and the connection was closed for that.
  public internal(set) var refusals: [String] = []
  /// How many connections were accepted.
  public internal(set) var connectionCount = 0
  /// How many of them are open now.
  public internal(set) var openConnectionCount = 0
  /// How many bytes were handed to the system, for all clients. What a client has not taken is among them as long as
  /// the system has room for it.
  public internal(set) var sentCount = 0
}
