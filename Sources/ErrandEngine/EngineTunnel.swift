#if os(Linux)
  import ErrandHTTP

  /// Asks a proxy for a tunnel to an origin (CONNECT, RFC 9110 section 9.3.6). Only the loop's thread uses this object.
  final class EngineTunnel {
    enum Result {
      /// The poller reports when the tunnel can continue.
      case later
      /// The bytes that follow belong to the origin.
      case open
      case failed(TransportFailure)
    }

    private static let limits = ResponseLimits()

    private let exchange: EngineExchange
    private let socket: EngineSocket
    private var machine = ConnectionMachine()
    private var request: [UInt8]

    init(_ exchange: EngineExchange, over socket: EngineSocket) {
      self.exchange = exchange
      self.socket = socket
      let place = "\(exchange.origin.host):\(exchange.origin.port)"
      let authorization = exchange.proxy?.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
      request = Array("CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n\(authorization)\r\n".utf8)
      // A response to CONNECT has no body, like a response to HEAD.
      _ = machine.submit(limits: Self.limits, isHeadRequest: true, remainder: .nothing)
    }

    /// Sends the request and reads the proxy's response, as far as this is possible without waiting.
    func advance(_ buffer: UnsafeMutableRawBufferPointer) -> Result {
      guard send() else { return failed("the proxy closed the connection") }
      while request.isEmpty {
        switch socket.receive(into: buffer) {
        case .later: return .later
        case .end, .failed: return failed("the proxy closed the connection")
        case .bytes(let count):
          if let result = take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { return result }
        }
      }
      return .later
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

    /// Parses received bytes. Returns nil if the response headers are not complete.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Result? {
      var start = 0
      while start < bytes.count {
        do throws(TransportFailure) {
          let (step, used) = try machine.receive(UnsafeRawBufferPointer(rebasing: bytes[start...]))
          start += used
          guard case .head = step else { continue }
        } catch {
          return failed("the proxy's response is malformed")
        }
        return end(hasExcess: start < bytes.count)
      }
      return nil
    }

    private func end(hasExcess: Bool) -> Result {
      let status = machine.head.status
      guard (200..<300).contains(status) else {
        return failed("CONNECT tunnel failed, response \(status)", status == 407 ? .proxyCredentials : .proxy)
      }
      // A TLS server sends nothing before the client does, so these bytes come from the proxy.
      return hasExcess ? failed("the proxy sent bytes before the server") : .open
    }

    private func failed(_ cause: String, _ kind: TransportFailure.Kind = .proxy) -> Result {
      let sentence = FailureText.sentence(for: kind, origin: exchange.origin)
      return .failed(exchange.failure(kind, EngineFailure.with(cause, sentence)))
    }
  }
#endif
