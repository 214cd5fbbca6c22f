#if os(Linux)
  import ErrandHTTP

  /// Decides which address of a host is tried next, and when (RFC 8305, "happy eyeballs").
  ///
  /// IPv6 and IPv4 addresses alternate. The list begins with the address family that the system prefers. The next
  /// connection attempt begins as soon as an earlier attempt fails, and at the latest 250 ms after the last attempt
  /// began. The first connection that is established is used.
  struct AddressRace {
    /// The time between the beginnings of two connection attempts if no attempt has failed (RFC 8305 section 5).
    static let delay = Duration.milliseconds(250)

    /// The time until a connection attempt is repeated that found the queue of a Unix domain socket full.
    static let pause = Duration.milliseconds(10)

    private var waiting: ArraySlice<SocketAddress>
    private var running = 0
    /// The time at which the next connection attempt begins even if other attempts still run. Nil before the first one.
    private var due: MonotonicInstant?

    init(_ addresses: [SocketAddress]) { waiting = Self.interleaved(addresses)[...] }

    /// True if connection attempts to all addresses have failed.
    var isLost: Bool { running == 0 && waiting.isEmpty }

    /// The time at which the caller must call ``next(now:)`` again. Nil if no further attempt is scheduled.
    var nextAttempt: MonotonicInstant? { waiting.isEmpty ? nil : due }

    /// Returns the address to connect to now. Returns nil if no connection attempt is due or no address is left.
    mutating func next(now: MonotonicInstant) -> SocketAddress? {
      guard due.map({ $0 <= now }) != false, let address = waiting.popFirst() else { return nil }
      running += 1
      due = now.advanced(by: Self.delay)
      return address
    }

    /// Records that a connection attempt has failed. The next attempt may begin at once.
    mutating func failed(now: MonotonicInstant) {
      running -= 1
      due = now
    }

    /// Records that the attempt to connect to `address` has failed and will be repeated after a pause.
    mutating func postponed(_ address: SocketAddress, now: MonotonicInstant) {
      running -= 1
      waiting.insert(address, at: waiting.startIndex)
      due = now.advanced(by: Self.pause)
    }

    /// Returns the addresses with IPv6 and IPv4 alternating. Within each address family, the order does not change (RFC
    /// 8305 section 4).
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
