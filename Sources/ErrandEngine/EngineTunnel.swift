#if os(Linux)
  import ErrandHTTP

  /// Asks a proxy for a tunnel to an origin (CONNECT, RFC 9110 section 9.3.6). If the proxy asks for credentials, asks
  /// again with them on the same connection, as far as the proxy keeps it open. Only the loop's thread uses this object.
  final class EngineTunnel {
    enum Result {
      /// The poller reports when the tunnel can continue.
      case later
      /// The bytes that follow belong to the origin.
      case open
      /// The proxy needs another connection for the next request.
      case reconnect
      case failed(TransportFailure)
    }

    private static let limits = ResponseLimits()
    /// The maximum number of bytes that are read from the body of a response with status 407. The next request needs
    /// another connection if the body is longer.
    private static let longestBody = 64 << 10

    private let exchange: EngineExchange
    private let socket: EngineSocket
    private unowned(unsafe) let loop: EngineLoop  // the loop owns the exchange's connector and outlives it
    private var machine = ConnectionMachine()
    private var request: [UInt8] = []
    /// The number of requests on this connection.
    private var requests = 0
    /// True while the rest of a response with status 407 is read, after which the request is sent again.
    private var isChallenged = false

    init(_ exchange: EngineExchange, over socket: EngineSocket, _ loop: EngineLoop) {
      self.exchange = exchange
      self.socket = socket
      self.loop = loop
      submit()
    }

    private func submit() {
      isChallenged = false
      requests += 1
      let place = "\(exchange.origin.host):\(exchange.origin.port)"
      let authorization = loop.authorization(of: exchange, method: "CONNECT", target: place)
      let field =
        authorization.map { Array("Proxy-Authorization: ".utf8) + FieldOctets.bytes(of: $0) + [13, 10] } ?? []
      request = Array("CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n".utf8) + field + [13, 10]
      _ = machine.submit(limits: Self.limits, isHeadRequest: false, remainder: .nothing, isConnect: true)
    }

    /// Sends the request and reads the proxy's response, as far as this is possible without waiting.
    func advance(_ buffer: UnsafeMutableRawBufferPointer) -> Result {
      while true {
        guard send() else { return ended() }
        guard request.isEmpty else { return .later }
        switch socket.receive(into: buffer) {
        case .later: return .later
        case .end, .failed: return ended()
        case .bytes(let count):
          if let result = take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { return result }
        }
      }
    }

    /// Sends the rest of the request. Returns false if the connection failed.
    private func send() -> Bool {
      while !request.isEmpty {
        switch request.withUnsafeBytes({ socket.send($0) }) {
        case .bytes(let count):
          machine.wrote(count)
          request.removeFirst(count)
        case .later: return true
        case .end, .failed: return false
        }
      }
      machine.wroteHead()
      return true
    }

    /// Parses received bytes. Returns nil if the response is not complete, or if the next request is ready.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Result? {
      var start = 0
      while start < bytes.count {
        do throws(TransportFailure) {
          let (step, used) = try machine.receive(UnsafeRawBufferPointer(rebasing: bytes[start...]))
          start += used
          if case .head = step, let result = takeHead(hasExcess: start < bytes.count) { return result }
        } catch {
          return isChallenged ? .reconnect : failed("the proxy's response is malformed")
        }
      }
      guard isChallenged else { return nil }
      if machine.isWhole {
        guard machine.finish() else { return .reconnect }
        submit()
        return nil
      }
      return machine.contentBytes > Self.longestBody ? .reconnect : nil
    }

    /// Decides by the response headers. Returns nil if the request is sent again after the response.
    private func takeHead(hasExcess: Bool) -> Result? {
      let head = machine.head
      isChallenged = loop.takeProxyResponse(head, to: exchange)
      if isChallenged { return nil }
      guard (200..<300).contains(head.status) else {
        let cause = "CONNECT tunnel failed, response \(head.status)"
        guard head.status == 407 else { return failed(cause) }
        let sentence = FailureText.proxyCredentials(head.fields, origin: exchange.origin)
        return .failed(exchange.failure(.proxyCredentials, sentence, cause: cause))
      }
      // A response with status 2xx has no body, whatever its fields say. A TLS server sends nothing before the client
      // does, so further bytes come from the proxy.
      return hasExcess ? failed("the proxy sent bytes before the server") : .open
    }

    /// Handles the end of the connection. A proxy may close it after status 407, or before it reads a second request.
    private func ended() -> Result {
      isChallenged || requests > 1 && !machine.hasBegun ? .reconnect : failed("the proxy closed the connection")
    }

    private func failed(_ cause: String) -> Result { .failed(exchange.failure(.proxy, cause: cause)) }
  }
#endif
