#if os(Linux)
  import ErrandHTTP

  /// Which address of a host is tried next, and when (RFC 8305, "happy eyeballs").
  ///
  /// The addresses of both families take turns, beginning with the family that the system prefers. Another attempt
  /// begins when all earlier ones have failed, or 250 ms after the last began. The first connection wins.
  struct AddressRace {
    /// The time between two attempts while none has failed (RFC 8305 section 5).
    static let delay = Duration.milliseconds(250)

    private var waiting: ArraySlice<SocketAddress>
    private var running = 0
    /// When the next attempt begins though others run.
    private var due: MonotonicInstant?

    init(_ addresses: [SocketAddress]) { waiting = Self.interleaved(addresses)[...] }

    /// Whether every address has been tried, and failed.
    var isLost: Bool { running == 0 && waiting.isEmpty }

    /// When ``next(now:)`` is to be asked again; nil if only the running attempts are waited for.
    var nextAttempt: MonotonicInstant? { waiting.isEmpty || running == 0 ? nil : due }

    /// The address that is tried now; nil if none is.
    mutating func next(now: MonotonicInstant) -> SocketAddress? {
      guard running == 0 || due.map({ $0 <= now }) == true, let address = waiting.popFirst() else { return nil }
      running += 1
      due = now.advanced(by: Self.delay)
      return address
    }

    /// An attempt has failed: the next one begins at once.
    mutating func failed(now: MonotonicInstant) {
      running -= 1
      due = now
    }

    /// The addresses with their families in turn, the order within each kept (RFC 8305 section 4).
    static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
      guard let first = addresses.first else { return [] }
      let preferred = addresses.filter { $0.family == first.family }
      let others = addresses.filter { $0.family != first.family }
      var mixed: [SocketAddress] = []
      for place in 0..<max(preferred.count, others.count) {
        if place < preferred.count { mixed.append(preferred[place]) }
        if place < others.count { mixed.append(others[place]) }
      }
      return mixed
    }
  }
#endif
