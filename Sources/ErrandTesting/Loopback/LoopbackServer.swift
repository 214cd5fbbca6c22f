/// A real HTTP/1.1 server on the local machine, for tests. It sends the responses that the test defines, records
/// requests, and can simulate faults.
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
/// Responses can also be enqueued. Enqueued responses take precedence over the handler. Each enqueued response is for
/// one request, in the order of the requests:
///
/// ```swift
/// server.enqueue(.status(503), .ok("hello").cut(after: 2), .ok("hello"))
/// ```
///
/// The server listens on 127.0.0.1 (or ::1) at a port that the system chooses. Each connection has its own thread, on
/// which the handler runs. The handler may run on several threads at the same time, and it may block.
///
/// The server stops with ``stop()`` or when it is deallocated, so keep a reference until the end of the test. Stopping
/// closes all open connections. A handler that uses the server must capture the server weakly.
public final class LoopbackServer: Sendable {
  private let core: LoopbackCore

  /// The port that the server listens on.
  public let port: Int
  /// The address as a URL without a path, such as `http://127.0.0.1:41234`.
  public let url: String

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - options: The options for listening and reading.
  ///   - handler: Returns the response to a request if no response is enqueued. The handler runs on the connection's
  ///     thread.
  /// - Throws: ``LoopbackError/system(call:code:)`` if no port is available.
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

  /// Starts a server that sends the enqueued responses. If no response is left, the server responds with status 500 and
  /// a text with the reason.
  ///
  /// - Throws: ``LoopbackError/system(call:code:)`` if no port is available.
  public convenience init(_ options: LoopbackOptions = LoopbackOptions()) throws {
    try self.init(options) { request in
      .status(500, body: "LoopbackServer: no response is enqueued for \(request.method) \(request.target)\n")
    }
  }

  deinit { core.end() }

  /// Closes the port and all connections, and waits until all threads have ended. This function may be called more than
  /// once.
  ///
  /// Waits at a gate, slow responses and endless bodies end immediately. If a handler blocks, this function waits at
  /// most ten seconds for it.
  public func stop() {
    core.end()
  }

  /// Enqueues responses, each for one request. When no enqueued response is left, the handler responds. A request whose
  /// body does not arrive completely before the response uses no enqueued response.
  ///
  /// - Parameters:
  ///   - answers: The responses in order.
  ///   - reception: The time at which the server reads the bodies of the requests that get these responses.
  public func enqueue(_ answers: LoopbackAnswer..., reception: LoopbackReception = .automatic) {
    core.enqueue(answers.map { LoopbackCore.Scripted(answer: $0, reception: reception) })
  }
}

// MARK: - Record

extension LoopbackServer {
  /// A consistent snapshot of everything recorded so far.
  public var record: LoopbackRecord { core.observed.value }

  /// The requests so far. Each request is recorded before its response begins.
  public var requests: [RecordedRequest] { record.requests }

  /// The number of connections accepted so far.
  public var connectionCount: Int { record.connectionCount }

  /// The number of connections that are open now.
  public var openConnectionCount: Int { record.openConnectionCount }

  /// Waits until the server has received the request with the given number, counted from 1, and returns this request.
  ///
  /// - Throws: ``LoopbackError/notReached(_:within:)`` after `bound`; ``LoopbackError/stopped(waitingFor:)`` if the
  ///   server stops earlier; `CancellationError` if the task is cancelled.
  @discardableResult
  public func request(number: Int, within bound: Duration = .seconds(30)) async throws -> RecordedRequest {
    let number = max(1, number)
    try await core.observed.wait(for: "request \(number)", within: bound) { $0.requests.count >= number }
    return requests[number - 1]
  }

  /// Waits until the server's ``record`` meets a condition, such as `{ $0.openConnectionCount == 0 }`.
  ///
  /// - Parameters:
  ///   - bound: The maximum time to wait.
  ///   - condition: The condition. It is called after each change of the record, while a lock is held, so it must be
  ///     fast and must not call the server.
  /// - Throws: ``LoopbackError/notReached(_:within:)`` after `bound`; ``LoopbackError/stopped(waitingFor:)`` if the
  ///   server stops earlier; `CancellationError` if the task is cancelled.
  public func wait(
    within bound: Duration = .seconds(30), until condition: @escaping @Sendable (LoopbackRecord) -> Bool
  ) async throws {
    try await core.observed.wait(for: "a condition on the server's record", within: bound, until: condition)
  }
}

/// A snapshot of everything that a ``LoopbackServer`` has recorded.
public struct LoopbackRecord: Sendable {
  /// The received requests, in the order in which the server began to send their responses.
  public internal(set) var requests: [RecordedRequest] = []
  /// The requests that the client did not send completely, because it closed the connection before the end of the body.
  /// These requests have no number and no response.
  public internal(set) var abandoned: [RecordedRequest] = []
  /// The reasons why the server ended connections, in order. There are two kinds of reasons:
  /// - The received bytes were not an HTTP/1.x request. The server has responded with status 400.
  /// - The process had no free file descriptor. A connection needs file descriptors to wait at a gate.
  public internal(set) var refusals: [String] = []
  /// The number of accepted connections.
  public internal(set) var connectionCount = 0
  /// The number of connections that are open now.
  public internal(set) var openConnectionCount = 0
  /// The number of bytes passed to the system for all clients. This includes bytes in the system's send buffers, which
  /// the clients have not received yet.
  public internal(set) var sentCount = 0
}

/// Options of a ``LoopbackServer`` for listening and reading. Every option has a default.
public struct LoopbackOptions: Sendable {
  /// The address to listen on. Only programs on this machine can reach the address.
  public enum Address: Sendable {
    /// The IPv4 address 127.0.0.1.
    case ipv4
    /// The IPv6 address ::1.
    case ipv6
  }

  /// The address to listen on.
  public var address: Address = .ipv4
  /// A closure that decides when the server reads the body of a request. The closure receives the request without its
  /// body. For an enqueued response, the closure is not called: the parameter `reception` of
  /// ``LoopbackServer/enqueue(_:reception:)`` decides.
  public var reception: @Sendable (RecordedRequest) -> LoopbackReception = { _ in .automatic }
  /// A closure that returns the response to send when a connection is accepted, before any byte is read; nil to send
  /// nothing. The closure receives the number of the connection, counted from 1.
  ///
  /// `{ _ in .closeBeforeAnswer }` closes every connection immediately. `{ $0 == 1 ? .resetBeforeAnswer : nil }` resets
  /// only the first connection. The closure runs on the thread of the connection.
  public var greeting: @Sendable (Int) -> LoopbackAnswer? = { _ in nil }
  /// A gate at which the server waits before it accepts a connection; nil to accept immediately. Until the gate lets
  /// the server pass, clients can connect, but receive nothing.
  public var acceptGate: Gate?
  /// The maximum number of bytes of a request body to keep. Further bytes are counted and dropped.
  public var recordedBodyLimit = 16 << 20
  /// The size of the system's send buffer in bytes; nil for the system's default. The system may double the value. With
  /// a small buffer, the number of bytes sent is close to the number of bytes received by the client.
  package var sendBuffer: Int?
  /// The maximum size of the request line and the header fields in bytes. Larger requests are rejected with status 400.
  public var headLimit = 1 << 20

  /// Creates options with default values.
  public init() {}

  /// Creates options for the given address.
  public init(address: Address) {
    self.address = address
  }
}

/// The time at which a ``LoopbackServer`` reads the body of a request.
public enum LoopbackReception: Sendable {
  /// Reads the body before the response. If the request has `Expect: 100-continue`, the server sends `100 Continue`
  /// first.
  case automatic
  /// Reads the body before the response, and never sends `100 Continue`.
  case withoutContinue
  /// Waits at the gate before reading the body, then continues like `automatic`.
  case held(Gate)
  /// Responds immediately, without `100 Continue`, and reads the body afterwards.
  case afterAnswer
  /// Responds immediately, and does not read the body. The server closes the connection when the client has closed it,
  /// or after 250 milliseconds. If the client has sent some of the body, the system then resets the connection. Many
  /// servers that reject an upload behave in this way.
  case never
}

/// A failure of a ``LoopbackServer``, or of a test that waits for an event of the server.
public enum LoopbackError: Error, Sendable, Equatable {
  /// A call to the operating system failed with the error number `code` (`errno`).
  case system(call: String, code: Int32)
  /// The awaited event did not occur within the time limit.
  case notReached(String, within: Duration)
  /// The server was stopped, so the event for which the test waits can no longer occur.
  case stopped(waitingFor: String)
}

extension LoopbackError: CustomStringConvertible {
  /// A sentence that names the cause and the cure. If a system call failed, the sentence names only the cause.
  public var description: String {
    switch self {
    case .system(let call, let code):
      "the system call \(call) failed with errno \(code)"
    case .notReached(let what, let bound):
      "timed out after \(bound) waiting for \(what): check in `server.requests` what the client has sent so far"
    case .stopped(let what):
      "the loopback server stopped during a wait for \(what): keep the server alive until the test ends"
    }
  }
}
