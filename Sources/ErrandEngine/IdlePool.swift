#if os(Linux)
  import ErrandHTTP

  /// The kept connections, by origin. Of an origin the one that was used last is used first, so that the others age.
  ///
  /// It decides which connections are given up, and closes none.
  struct IdlePool<Connection: AnyObject> {
    private struct Entry {
      let connection: Connection
      let since: MonotonicInstant
    }

    let most: Int
    let mostPerOrigin: Int
    let age: Duration

    private var entries: [HTTPURL.Origin: [Entry]] = [:]
    private(set) var count = 0
    /// When the next connection may be too old; nil if none is kept.
    private(set) var nextExpiry: MonotonicInstant?

    init(most: Int, mostPerOrigin: Int, age: Duration) {
      self.most = most
      self.mostPerOrigin = mostPerOrigin
      self.age = age
    }

    /// Keeps a connection. Returns those that are given up for it.
    mutating func keep(_ connection: Connection, for origin: HTTPURL.Origin, now: MonotonicInstant) -> [Connection] {
      entries[origin, default: []].append(Entry(connection: connection, since: now))
      count += 1
      let expiry = now.advanced(by: age)
      nextExpiry = nextExpiry.map { min($0, expiry) } ?? expiry
      if let mine = entries[origin], mine.count > mostPerOrigin { return [removeFirst(of: origin)].compactMap { $0 } }
      return count > most ? [removeOldest()].compactMap { $0 } : []
    }

    /// Takes out the connection of an origin that was used last. Those that are too old are in `expired`.
    mutating func take(
      for origin: HTTPURL.Origin, now: MonotonicInstant
    ) -> (connection: Connection?, expired: [Connection]) {
      guard let last = entries[origin]?.popLast() else { return (nil, []) }
      count -= 1
      guard isTooOld(last, now) else { return (last.connection, []) }
      // The others are older still.
      let others = entries.removeValue(forKey: origin) ?? []
      count -= others.count
      return (nil, others.map(\.connection) + [last.connection])
    }

    /// Takes out a connection that has ended. False if it is not kept.
    mutating func remove(_ connection: Connection, of origin: HTTPURL.Origin) -> Bool {
      guard let place = entries[origin]?.lastIndex(where: { $0.connection === connection }) else { return false }
      entries[origin]?.remove(at: place)
      count -= 1
      return true
    }

    /// Takes out the connection that was used the longest time ago.
    mutating func removeOldest() -> Connection? {
      let oldest = entries.min { left, right in
        guard let one = left.value.first?.since else { return false }
        guard let other = right.value.first?.since else { return true }
        return one < other
      }
      guard let oldest, !oldest.value.isEmpty else { return nil }
      return removeFirst(of: oldest.key)
    }

    /// Takes out all connections that are too old.
    mutating func expire(now: MonotonicInstant) -> [Connection] {
      guard let nextExpiry, nextExpiry <= now else { return [] }
      var expired: [Connection] = []
      for (origin, kept) in entries {
        let young = kept.drop { isTooOld($0, now) }
        expired += kept.prefix(kept.count - young.count).map(\.connection)
        entries[origin] = young.isEmpty ? nil : Array(young)
      }
      count -= expired.count
      self.nextExpiry = entries.values.compactMap(\.first?.since).min()?.advanced(by: age)
      return expired
    }

    /// Takes out all connections.
    mutating func removeAll() -> [Connection] {
      let all = entries.values.joined().map(\.connection)
      entries = [:]
      (count, nextExpiry) = (0, nil)
      return all
    }

    private mutating func removeFirst(of origin: HTTPURL.Origin) -> Connection? {
      guard entries[origin]?.isEmpty == false else { return nil }
      count -= 1
      return entries[origin]?.removeFirst().connection
    }

    private func isTooOld(_ entry: Entry, _ now: MonotonicInstant) -> Bool { entry.since.advanced(by: age) <= now }
  }
#endif
