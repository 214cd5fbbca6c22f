#if os(Linux)
  import ErrandHTTP
  import Glibc

  extension EngineLoop {
    /// Passes an event of a socket to the connection or to the connection attempt that uses the socket.
    func handle(_ report: Poller.Report) {
      switch sockets.owner(of: report.token) {
      case .connection(let connection): connection.handle(connection.socket.interpreted(report))
      case .http2(let connection): connection.handle(connection.socket.interpreted(report))
      case .connector(let connector): connector.handle(report)
      case nil: break
      }
    }

    /// Opens a socket for an address. Returns the system's error number if no socket can be opened. If no file
    /// descriptor is left, closes the oldest idle connection and tries once more.
    func openSocket(for address: SocketAddress) -> (socket: EngineSocket?, error: Int32) {
      let opened = EngineSocket.open(for: address)
      guard opened.socket == nil, opened.error == EMFILE || opened.error == ENFILE, closeOldestIdle() else {
        return opened
      }
      return EngineSocket.open(for: address)
    }

    /// Closes the oldest idle HTTP/1.1 connection or, if there is none, the oldest idle HTTP/2 connection. Returns false
    /// if no connection is idle.
    func closeOldestIdle() -> Bool {
      if let idle = pool.removeOldest() {
        close(idle)
        return true
      }
      guard let idle = sharedPool.removeOldest() else { return false }
      idle.finish()
      return true
    }

    /// Registers a socket with the poller, and returns the socket's token. Returns nil if the system has no resources
    /// for the socket.
    func register(_ socket: EngineSocket, for connector: EngineConnector) -> UInt64? {
      let token = sockets.insert(.connector(connector))
      if poller?.add(socket.descriptor, token: token) == true { return token }
      sockets.remove(token)
      return nil
    }

    /// Removes and closes a socket that did not become a connection.
    func forget(_ token: UInt64, _ socket: EngineSocket) {
      sockets.remove(token)
      socket.close()
    }

    /// Keeps an idle connection in the pool for a later exchange.
    func keep(_ connection: EngineConnection) {
      connection.observer?.changed(to: .idle)
      for old in pool.keep(connection, for: connection.origin, now: now) { close(old) }
    }

    /// Closes a connection that is not in the pool.
    func close(_ connection: EngineConnection) {
      connection.machine.stop()
      guard sockets.remove(connection.token) != nil else { return }
      connection.socket.close()
      connection.observer?.changed(to: .closed)
    }

    /// Removes an idle connection from the pool and closes it, because the connection ended or received unexpected
    /// bytes.
    func discard(_ connection: EngineConnection) {
      _ = pool.remove(connection, of: connection.origin)
      close(connection)
    }
  }

  /// The connections and connection attempts that own the sockets of the poller, by token. A token contains an index in
  /// the table and a generation number. The generation changes when a socket is removed, so an event of a closed socket
  /// never reaches the owner of a new socket.
  struct SocketTable {
    enum Owner {
      case connector(EngineConnector)
      case connection(EngineConnection)
      case http2(HTTP2Connection)
    }

    private struct Place {
      var owner: Owner?
      var generation: UInt32
    }

    private var places: [Place] = []
    private var free: [Int] = []

    /// The number of sockets.
    var count: Int { places.count - free.count }

    /// Adds a socket's owner. Returns the socket's token.
    mutating func insert(_ owner: Owner) -> UInt64 {
      if let place = free.popLast() {
        places[place].owner = owner
        return token(of: place)
      }
      places.append(Place(owner: owner, generation: 0))
      return token(of: places.count - 1)
    }

    /// The owner of a socket. Nil if the socket was removed.
    func owner(of token: UInt64) -> Owner? {
      guard let place = place(of: token) else { return nil }
      return places[place].owner
    }

    /// Changes the owner of a socket.
    mutating func hand(_ token: UInt64, to owner: Owner) {
      if let place = place(of: token) { places[place].owner = owner }
    }

    /// Removes a socket. Returns the socket's owner, so that the caller can release the owner.
    @discardableResult
    mutating func remove(_ token: UInt64) -> Owner? {
      guard let place = place(of: token) else { return nil }
      let owner = places[place].owner
      places[place].owner = nil
      places[place].generation &+= 1
      free.append(place)
      return owner
    }

    private func token(of place: Int) -> UInt64 {
      UInt64(places[place].generation) << 32 | UInt64(UInt32(truncatingIfNeeded: place))
    }

    private func place(of token: UInt64) -> Int? {
      let place = Int(token & 0xFFFF_FFFF)
      guard place < places.count, places[place].owner != nil,
        places[place].generation == UInt32(truncatingIfNeeded: token >> 32)
      else { return nil }
      return place
    }
  }
#endif
