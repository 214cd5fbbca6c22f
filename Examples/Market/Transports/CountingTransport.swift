import Errand
import ErrandHTTP
import Synchronization

/// Counts the exchanges of another transport. It has the capabilities of that transport.
final class CountingTransport: Transport {
  private let inner: any Transport
  private let exchanges = Mutex(0)

  init(over inner: any Transport) { self.inner = inner }

  var count: Int { exchanges.withLock { $0 } }
  var capabilities: TransportCapabilities { inner.capabilities }
  var contentCodings: [String] { inner.contentCodings }
  var timers: (any Timers)? { inner.timers }

  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    exchanges.withLock { $0 += 1 }
    return try await inner.send(exchange)
  }
}
