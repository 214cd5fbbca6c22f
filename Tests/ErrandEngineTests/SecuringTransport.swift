#if os(Linux)
  import ErrandCore
  import ErrandHTTP
  import ErrandSupport
  import Foundation

  @testable import ErrandEngine

  /// The engine over TLS, for checks that know only servers in cleartext. A request for `http://HOST:PORT` is sent to
  /// `https://HOST:OTHER`, where a relay passes the decrypted bytes on to the port.
  final class SecuringTransport: Transport {
    private let identity: TLSIdentity
    private let engine: EngineTransport
    /// The relays by the port of their server.
    private let relays = Locked<[Int: TLSServer]>([:])

    init() throws {
      identity = try TLSIdentity()
      engine = try identity.transport()
    }

    var capabilities: TransportCapabilities { engine.capabilities }
    var contentCodings: [String] { engine.contentCodings }
    var timers: (any Timers)? { engine.timers }

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      let url = exchange.request.url
      let port = url.origin.port
      let relay = try relays.withLock { relays in
        if let relay = relays[port] { return relay }
        let relay = try TLSServer(identity: identity) { peer in if peer.accept() { peer.relay(to: port) } }
        relays[port] = relay
        return relay
      }
      var secured = exchange
      let target = String(decoding: url.string.utf8.dropFirst(url.pathStart), as: UTF8.self)
      secured.request.url = try HTTPURL("https://\(url.origin.host):\(relay.port)\(target)")
      var response = try await engine.send(secured)
      response.url = url
      return response
    }
  }
#endif
