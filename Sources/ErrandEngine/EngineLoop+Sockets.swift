#if os(Linux)
  import ErrandHTTP
  import Glibc

  extension EngineLoop {
    /// Passes an event of a socket to the socket's owner.
    func handle(_ report: Poller.Report) {
      switch sockets.owner(of: report.token) {
      case .connection(let connection): connection.handle(report)
      case .dialing(let dialing): dialing.handle(report)
      case nil: break
      }
    }

    /// Opens a socket for an address. Returns the system's error number if this fails. If no file descriptor is left,
    /// closes the oldest idle connection and tries once more.
    func openSocket(for address: SocketAddress) -> (socket: EngineSocket?, error: Int32) {
      let opened = EngineSocket.open(for: address)
      guard opened.socket == nil, opened.error == EMFILE || opened.error == ENFILE, let idle = pool.removeOldest()
      else {
        return opened
      }
      close(idle)
      return EngineSocket.open(for: address)
    }

    /// Registers a socket with the poller. Returns nil if the system has no resources for it.
    func register(_ socket: EngineSocket, for dialing: Dialing) -> UInt64? {
      let token = sockets.insert(.dialing(dialing))
      if poller?.add(socket.descriptor, token: token) == true { return token }
      sockets.remove(token)
      return nil
    }

    /// Removes and closes a socket that did not become a connection.
    func forget(_ token: UInt64, _ socket: EngineSocket) {
      sockets.remove(token)
      socket.close()
    }

    /// Keeps an idle connection for a later exchange.
    func keep(_ connection: EngineConnection) {
      for old in pool.keep(connection, for: connection.origin, now: now) { close(old) }
    }

    /// Closes a connection that is not in the pool.
    func close(_ connection: EngineConnection) {
      connection.machine.stop()
      if sockets.remove(connection.token) != nil { connection.socket.close() }
    }

    /// Removes an idle connection from the pool and closes it, because it ended or received unexpected bytes.
    func discard(_ connection: EngineConnection) {
      _ = pool.remove(connection, of: connection.origin)
      close(connection)
    }
  }
#endif
