#if os(Linux)
  import ErrandHTTP

  /// The idle connections by origin. For each origin, the connection that was used last is reused first, so that
  /// unneeded connections reach their maximum age.
  ///
  /// The pool decides which connections must be closed, but does not close them itself.
  struct IdlePool<Connection: AnyObject> {
    private struct Entry {
      let connection: Connection
      let since: MonotonicInstant
    }

    let most: Int
    let mostPerOrigin: Int
    let age: Duration

    /// While there are at most this many lists, a list that becomes empty is kept: its connection usually comes back
    /// soon, and the list would then have to be allocated and its origin hashed again.
    private static var mostEmpty: Int { 8 }

    private var entries: [HTTPURL.Origin: [Entry]] = [:]
    /// The number of idle connections.
    private(set) var count = 0 {
      didSet { if count == 0 { nextExpiry = nil } }
    }
    /// The number of origins with a list of idle connections, which may be empty.
    var originCount: Int { entries.count }
    /// The time of the next check for connections that exceed the maximum age. Nil if the pool is empty.
    private(set) var nextExpiry: MonotonicInstant?

    init(most: Int, mostPerOrigin: Int, age: Duration) {
      self.most = most
      self.mostPerOrigin = mostPerOrigin
      self.age = age
    }

    /// Adds a connection. Returns the connections that must be closed because a limit was exceeded.
    mutating func keep(_ connection: Connection, for origin: HTTPURL.Origin, now: MonotonicInstant) -> [Connection] {
      let entry = Entry(connection: connection, since: now)
      count += 1
      let expiry = now.advanced(by: age)
      nextExpiry = .earliest(nextExpiry, expiry)
      // A lookup by index hashes the origin once, which takes longer than everything else here.
      guard let place = entries.index(forKey: origin) else {
        entries[origin] = [entry]
        return surplus(of: 1, at: origin)
      }
      entries.values[place].append(entry)
      return surplus(of: entries.values[place].count, at: origin)
    }

    /// Removes and returns a connection if a limit was exceeded when a connection of an origin was added.
    private mutating func surplus(of mine: Int, at origin: HTTPURL.Origin) -> [Connection] {
      if mine > mostPerOrigin { return [removeFirst(of: origin)].compactMap { $0 } }
      return count > most ? [removeOldest()].compactMap { $0 } : []
    }

    /// Removes and returns the connection of an origin that was used last. `expired` contains the connections that
    /// exceed the maximum age and must be closed.
    mutating func take(
      for origin: HTTPURL.Origin, now: MonotonicInstant
    ) -> (connection: Connection?, expired: [Connection]) {
      guard let place = entries.index(forKey: origin), let last = entries.values[place].popLast() else {
        return (nil, [])
      }
      count -= 1
      guard isTooOld(last, now) else {
        if entries.values[place].isEmpty, entries.count > Self.mostEmpty { entries.remove(at: place) }
        return (last.connection, [])
      }
      // All other connections of this origin were used before `last`. So if `last` is too old, they are too old as
      // well.
      let others = entries.removeValue(forKey: origin) ?? []
      count -= others.count
      return (nil, others.map(\.connection) + [last.connection])
    }

    /// Removes a connection that has ended. Returns false if the connection is not in the pool.
    mutating func remove(_ connection: Connection, of origin: HTTPURL.Origin) -> Bool {
      guard let place = entries[origin]?.lastIndex(where: { $0.connection === connection }) else { return false }
      entries[origin]?.remove(at: place)
      removeIfEmpty(origin)
      count -= 1
      return true
    }

    /// Removes and returns the connection that has been idle longest.
    mutating func removeOldest() -> Connection? {
      let oldest = entries.min { left, right in
        guard let one = left.value.first?.since else { return false }
        guard let other = right.value.first?.since else { return true }
        return one < other
      }
      guard let oldest, !oldest.value.isEmpty else { return nil }
      return removeFirst(of: oldest.key)
    }

    /// Removes and returns all connections that exceed the maximum age.
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

    /// Removes and returns all connections.
    mutating func removeAll() -> [Connection] {
      let all = entries.values.joined().map(\.connection)
      entries = [:]
      count = 0
      return all
    }

    private mutating func removeFirst(of origin: HTTPURL.Origin) -> Connection? {
      guard entries[origin]?.isEmpty == false, let first = entries[origin]?.removeFirst() else { return nil }
      removeIfEmpty(origin)
      count -= 1
      return first.connection
    }

    /// Removes an origin that has no connections any more. Otherwise a client that calls many hosts would keep all of
    /// them.
    private mutating func removeIfEmpty(_ origin: HTTPURL.Origin) {
      if entries[origin]?.isEmpty == true { entries[origin] = nil }
    }

    private func isTooOld(_ entry: Entry, _ now: MonotonicInstant) -> Bool { entry.since.advanced(by: age) <= now }
  }
#endif
