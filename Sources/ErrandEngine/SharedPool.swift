#if os(Linux)
  import ErrandHTTP

  /// The HTTP/2 connections that take new streams, by origin, with and without running exchanges. The pool decides
  /// which connections must be closed, but does not close them itself.
  struct SharedPool<Connection: AnyObject> {
    private struct Entry {
      let connection: Connection
      /// The time since which the connection has no exchange. Nil while it has one.
      var idleSince: MonotonicInstant?
    }

    let most: Int
    let age: Duration

    private var entries: [HTTPURL.Origin: [Entry]] = [:]
    /// The number of connections without exchanges.
    private(set) var idleCount = 0
    /// The time of the next check for connections that exceed the maximum age. Nil if no connection is idle.
    private(set) var nextExpiry: MonotonicInstant?

    init(most: Int, age: Duration) {
      self.most = most
      self.age = age
    }

    /// True if the pool has a connection to an origin.
    func contains(_ origin: HTTPURL.Origin) -> Bool { entries[origin] != nil }

    /// Returns the oldest connection of an origin that fulfils a condition.
    func first(of origin: HTTPURL.Origin, where isWanted: (Connection) -> Bool) -> Connection? {
      entries[origin]?.first { isWanted($0.connection) }?.connection
    }

    /// Adds a connection that an exchange uses.
    mutating func insert(_ connection: Connection, for origin: HTTPURL.Origin) {
      entries[origin, default: []].append(Entry(connection: connection))
    }

    /// Returns the oldest connection of an origin that fulfils a condition, and records that an exchange uses it.
    mutating func use(for origin: HTTPURL.Origin, where isUsable: (Connection) -> Bool) -> Connection? {
      guard let place = entries[origin]?.firstIndex(where: { isUsable($0.connection) }) else { return nil }
      if entries[origin]?[place].idleSince != nil { countIdle(-1) }
      entries[origin]?[place].idleSince = nil
      return entries[origin]?[place].connection
    }

    /// Records that a connection has no exchange any more. Returns the connections that must be closed because the
    /// limit on idle connections is exceeded.
    mutating func keep(_ connection: Connection, for origin: HTTPURL.Origin, now: MonotonicInstant) -> [Connection] {
      guard let place = place(of: connection, origin), entries[origin]?[place].idleSince == nil else { return [] }
      entries[origin]?[place].idleSince = now
      countIdle(1)
      let expiry = now.advanced(by: age)
      nextExpiry = .earliest(nextExpiry, expiry)
      return idleCount > most ? [removeOldest()].compactMap { $0 } : []
    }

    /// Removes a connection that takes no new streams.
    mutating func remove(_ connection: Connection, of origin: HTTPURL.Origin) {
      guard let place = place(of: connection, origin), let entry = entries[origin]?.remove(at: place) else { return }
      if entry.idleSince != nil { countIdle(-1) }
      if entries[origin]?.isEmpty == true { entries[origin] = nil }
    }

    /// Removes and returns the connection that has been idle longest.
    mutating func removeOldest() -> Connection? {
      var oldest: (origin: HTTPURL.Origin, connection: Connection, since: MonotonicInstant)?
      for (origin, kept) in entries {
        for entry in kept {
          guard let since = entry.idleSince, since < oldest?.since ?? MonotonicInstant(nanoseconds: .max) else {
            continue
          }
          oldest = (origin, entry.connection, since)
        }
      }
      guard let oldest else { return nil }
      remove(oldest.connection, of: oldest.origin)
      return oldest.connection
    }

    /// Removes and returns all connections that exceed the maximum age.
    mutating func expire(now: MonotonicInstant) -> [Connection] {
      guard let nextExpiry, nextExpiry <= now else { return [] }
      var expired: [(HTTPURL.Origin, Connection)] = []
      var next: MonotonicInstant?
      for (origin, kept) in entries {
        for entry in kept {
          guard let end = entry.idleSince?.advanced(by: age) else { continue }
          if end <= now { expired.append((origin, entry.connection)) } else { next = .earliest(next, end) }
        }
      }
      for (origin, connection) in expired { remove(connection, of: origin) }
      self.nextExpiry = next
      return expired.map(\.1)
    }

    /// Removes and returns all connections.
    mutating func removeAll() -> [Connection] {
      let all = entries.values.joined().map(\.connection)
      entries = [:]
      (idleCount, nextExpiry) = (0, nil)
      return all
    }

    private func place(of connection: Connection, _ origin: HTTPURL.Origin) -> Int? {
      entries[origin]?.firstIndex { $0.connection === connection }
    }

    private mutating func countIdle(_ change: Int) {
      idleCount += change
      if idleCount == 0 { nextExpiry = nil }
    }
  }
#endif
