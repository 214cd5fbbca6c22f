#if os(Linux)
  import ErrandCore

  extension CurlTransfer {
    /// When it has waited too long: for its connection first, for anything to move later. Nil for no bound, and while
    /// its own sink holds it up.
    var watchEnd: MonotonicInstant? {
      if !hasConnected { return exchange.connectTimeout.map { started.advanced(by: $0) } }
      if isPaused { return nil }
      return exchange.idleTimeout.map { lastActivity.advanced(by: $0) }
    }

    /// The failure of one that has waited too long.
    var timeout: TransportFailure {
      if hasConnected {
        return TransportFailure(.idleTimeout, "Nothing moved between \(exchange.request.url.origin) and here in time.")
      }
      return TransportFailure(
        .connectTimeout, "No connection to \(exchange.request.url.origin) stood in time.", isCertainlyNotSent: true)
    }
  }
#endif
