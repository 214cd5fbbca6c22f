import Errand
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import Testing

#if canImport(Darwin)
  import ErrandURLSession
#endif

#if os(Linux)
  import ErrandCurl
  import ErrandEngine
#endif

/// A transport that meets the faults.
enum Carrier: String, CaseIterable, Sendable {
  #if os(Linux)
    case curl, engine
  #else
    case platform
  #endif

  func transport() -> CarrierTransport {
    #if os(Linux)
      switch self {
      case .curl: CarrierTransport(CurlTransport())
      case .engine: CarrierTransport(EngineTransport())
      }
    #else
      CarrierTransport(URLSessionTransport())
    #endif
  }
}

/// Counts the exchanges that one transport carries, so that a test can tell that no other one did.
final class CarrierTransport: Transport {
  private let base: any Transport
  private let count = Locked(0)

  init(_ base: any Transport) { self.base = base }

  var capabilities: TransportCapabilities { base.capabilities }
  var contentCodings: [String] { base.contentCodings }
  var timers: (any Timers)? { base.timers }
  var identity: String? { base.identity }
  var exchanges: Int { count.withLock { $0 } }

  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    count.withLock { $0 += 1 }
    return try await base.send(exchange)
  }

  /// A client whose exchanges it carries.
  func client(at server: LoopbackServer, _ change: (inout ClientConfiguration) -> Void = { _ in }) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    change(&configuration)
    configuration.transport = .own(self)
    return APIClient(configuration)
  }

  /// Fails the test unless it carried every request that the server saw.
  func expectToHaveCarriedAll(of server: LoopbackServer, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(exchanges == server.requests.count && exchanges > 0, sourceLocation: sourceLocation)
  }
}
