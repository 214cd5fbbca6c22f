#if os(Linux)
  import ErrandHTTP
  import ErrandSupport
  import Foundation
  import Glibc
  import Testing

  @testable import ErrandEngine

  enum HTTP2 {
    /// A transport that speaks HTTP/2 without TLS.
    static func transport(_ change: (inout EngineConfiguration) -> Void = { _ in }) throws -> EngineTransport {
      var configuration = EngineConfiguration()
      configuration.httpVersion = .http2PriorKnowledge
      change(&configuration)
      return try EngineTransport(configuration)
    }

    static func post(_ url: String, _ body: HTTPBody) throws -> Exchange {
      Exchange(request: try HTTPRequest(method: .post, url: url, body: body))
    }

    /// Waits, without sleeping, until a condition holds on the thread of the transport's loop. Returns false if it does
    /// not within 30 seconds.
    static func eventually(
      on transport: EngineTransport, _ holds: @escaping @Sendable (EngineLoop) -> Bool
    ) async throws -> Bool {
      let timers = try #require(transport.timers as? LoopThread<EngineLoop>)
      let end = ContinuousClock.now + .seconds(30)
      repeat {
        let isTrue: Bool = await withCheckedContinuation { continuation in
          _ = timers.schedule(at: timers.now) { continuation.resume(returning: holds(timers.loop)) }
        }
        if isTrue { return true }
      } while ContinuousClock.now < end
      return false
    }

    /// Waits until the transport has a connection to a server. From then on, the system keeps few of its unsent bytes.
    static func shrinkSendBuffer(of transport: EngineTransport, to url: String) async throws -> Bool {
      let origin = try HTTPURL(url).origin
      return try await eventually(on: transport) { loop in
        guard let connection = loop.sharedPool.first(of: origin, where: { _ in true }) else { return false }
        var size: Int32 = 64 << 10
        return setsockopt(
          connection.socket.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size)) == 0
      }
    }

    /// Sends several requests at once. Returns the bodies of the responses, and the texts of the failures.
    static func get(
      _ url: String, _ count: Int, fields: HTTPFields = HTTPFields(), over transport: EngineTransport
    ) async -> [String] {
      await withTaskGroup(of: String.self) { group in
        for _ in 0..<count {
          group.addTask {
            do {
              let exchange = Exchange(
                request: try HTTPRequest(url: url, fields: fields), connectTimeout: .seconds(30),
                idleTimeout: .seconds(30))
              let response = try await transport.send(exchange)
              return String(decoding: response.body, as: UTF8.self)
            } catch {
              return "\(error)"
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }

    /// Sends 400 requests, 32 at a time, with a body of `size` bytes or without a body. Returns a text for each request
    /// that has no response, or another response than expected.
    static func send400(
      _ size: Int, over transport: EngineTransport, _ target: @escaping @Sendable (Int) -> (url: String, text: String)
    ) async -> [String] {
      let next = Counter()
      return await withTaskGroup(of: [String].self) { group in
        for _ in 0..<32 {
          group.addTask {
            var failures: [String] = []
            while case let number = next.add(), number <= 400 {
              let (url, text) = target(number)
              let body = size == 0 ? nil : HTTPBody(Data(repeating: 7, count: size))
              do {
                let request = try HTTPRequest(method: .post, url: url, body: body)
                let response = try await transport.send(Exchange(request: request))
                let isRight = response.body == Data(text.utf8) && response.metrics.version == .http2
                if !isRight { failures.append("\(response)") }
              } catch {
                failures.append("\(error)")
              }
            }
            return failures
          }
        }
        return await group.reduce(into: []) { $0 += $1 }
      }
    }
  }

  /// A server on loopback that runs a script for each connection, on a separate thread. The script reads and writes
  /// the frames of HTTP/2, so it can violate every rule.
  final class FrameServer: Sendable {
    private struct State {
      var connections = 0
      var openConnections = 0
      var paths: [String] = []
    }

    private let script: @Sendable (FramePeer, FrameServer) throws -> Void
    private let state = Locked(State())
    private let listeners = OpenListeners()
    let port: Int

    var url: String { "http://127.0.0.1:\(port)/" }
    var connections: Int { state.withLock { $0.connections } }
    var openConnections: Int { state.withLock { $0.openConnections } }
    /// The paths of the requests that a script counted as processed.
    var processed: [String] { state.withLock { $0.paths } }

    /// Starts a server. `script` runs once for each connection; the connection is closed when it returns or throws.
    init(_ script: @escaping @Sendable (FramePeer, FrameServer) throws -> Void) throws {
      self.script = script
      let (listener, port) = try Self.listen(to: 0)
      self.port = port
      acceptConnections(of: listener)
    }

    deinit { refuseConnections() }

    private static func listen(to port: Int) throws -> (listener: Int32, port: Int) {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var one: Int32 = 1
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = in_port_t(port).bigEndian
      place.sin_addr.s_addr = inet_addr("127.0.0.1")
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withUnsafeMutablePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, size) == 0 && Glibc.listen(listener, 512) == 0 && getsockname(listener, $0, &size) == 0
        }
      }
      guard isListening else { throw SocketFault(call: "listen") }
      return (listener, Int(UInt16(bigEndian: place.sin_port)))
    }

    private func acceptConnections(of listener: Int32) {
      listeners.insert(listener)
      Thread.detachNewThread { [weak self, script, listeners] in
        defer { listeners.close(listener) }
        while true {
          let peer = accept(listener, nil, nil)
          guard peer >= 0 else { return }
          guard let server = self else {
            close(peer)
            return
          }
          let number = server.state.withLock { state in
            state.connections += 1
            state.openConnections += 1
            return state.connections
          }
          Thread.detachNewThread {
            try? script(FramePeer(peer, number: number), server)
            server.state.withLock { $0.openConnections -= 1 }
            close(peer)
          }
        }
      }
    }

    /// Accepts no more connections. Those that are open stay open.
    func refuseConnections() { listeners.shutDown() }

    /// Accepts connections after ``refuseConnections()`` again.
    func acceptConnectionsAgain() throws { acceptConnections(of: try Self.listen(to: port).listener) }

    /// Counts a request as processed.
    func process(_ path: String) { state.withLock { $0.paths.append(path) } }
  }
#endif
