#if os(Linux)
  import ErrandHTTP
  import Glibc

  extension EngineLoop {
    /// Something happened to a socket.
    func handle(_ report: Poller.Report) {
      switch sockets.owner(of: report.token) {
      case .connection(let connection): connection.handle(report)
      case .dialing(let dialing): dialing.handle(report)
      case nil: break
      }
    }

    /// A socket for an address, or the system's error number. If the system has no descriptor left, a kept connection
    /// is given up for it.
    func openSocket(for address: SocketAddress) -> (socket: EngineSocket?, error: Int32) {
      let opened = EngineSocket.open(for: address)
      guard opened.socket == nil, opened.error == EMFILE || opened.error == ENFILE, let idle = pool.removeOldest()
      else {
        return opened
      }
      close(idle)
      return EngineSocket.open(for: address)
    }

    /// Has a socket reported about. Nil if the system has no room for that.
    func register(_ socket: EngineSocket, for dialing: Dialing) -> UInt64? {
      let token = sockets.insert(.dialing(dialing))
      if poller?.add(socket.descriptor, token: token) == true { return token }
      sockets.remove(token)
      return nil
    }

    /// Closes a socket that is no connection.
    func forget(_ token: UInt64, _ socket: EngineSocket) {
      sockets.remove(token)
      socket.close()
    }

    /// Keeps a connection for a later exchange.
    func keep(_ connection: EngineConnection) {
      for old in pool.keep(connection, for: connection.origin, now: now) { close(old) }
    }

    /// Closes a connection that is not kept.
    func close(_ connection: EngineConnection) {
      connection.machine.stop()
      if sockets.remove(connection.token) != nil { connection.socket.close() }
    }

    /// Closes a kept connection that has ended, or on which bytes came for which no request asked.
    func discard(_ connection: EngineConnection) {
      _ = pool.remove(connection, of: connection.origin)
      close(connection)
    }
  }
#endif
