#if os(Linux)
  import ErrandHTTP

  // Exchanges over HTTP/2 that get a stream of an open connection when one becomes free: those that wait for a stream,
  // those that wait for a connection, and the exchange that opens this connection.
  extension EngineLoop {
    /// The time after which an exchange that opens a connection uses a stream that has become free instead. Most
    /// connections are open by then. Without this time, requests that slightly exceed the streams of one connection
    /// would again and again open a second connection and drop it.
    static let openingPatience = Duration.milliseconds(250)

    /// Continues with the exchanges that wait for a stream or for a connection at the end of the current work, because a
    /// connection may take another stream or has ended. Until then, several streams may end.
    func continueCrowdLater(of origin: HTTPURL.Origin) {
      if crowds[origin] != nil || openings[origin] != nil { relieved.insert(origin) }
    }

    /// Gives the free streams to the exchanges that wait for a stream, and then to those that wait for a connection.
    func continueWaiting(for origin: HTTPURL.Origin) {
      continueCrowd(of: origin)
      continueOpening(of: origin)
    }

    /// Sends the exchanges that wait for a stream, in their order, until no stream is free. If they can use no connection
    /// any more, they open one.
    private func continueCrowd(of origin: HTTPURL.Origin) {
      guard var waiting = crowds.removeValue(forKey: origin)?[...] else { return }
      while let exchange = waiting.first,
        sharedPool.first(of: origin, where: exchange.mayShare) != nil
          || sharedPool.first(of: origin, where: exchange.mayUse) == nil
      {
        waiting.removeFirst()
        exchange.stage = .unconnected
        place(exchange)
      }
      if !waiting.isEmpty { crowds[origin] = Array(waiting) + (crowds[origin] ?? []) }
    }

    /// Sends the exchanges that wait for the connection of another one, in their order, until no stream is free. If
    /// streams are left, the exchange that opens the connection may use one of them later.
    private func continueOpening(of origin: HTTPURL.Origin) {
      guard hasFreeStream(origin), let opening = openings[origin] else { return }
      openings[origin]?.waiting = []
      var rest = opening.waiting[...]
      var left: [EngineExchange] = []
      while hasFreeStream(origin), let exchange = rest.popFirst() {
        if sharedPool.first(of: origin, where: exchange.mayShare) == nil {
          left.append(exchange)
        } else {
          exchange.stage = .unconnected
          place(exchange)
        }
      }
      left += rest
      guard openings[origin]?.leader === opening.leader else { return place(left) }
      openings[origin]?.waiting.insert(contentsOf: left, at: 0)
      guard sharedPool.first(of: origin, where: opening.leader.mayShare) != nil else { return }
      opening.leader.pauseEnd = opening.leader.started.advanced(by: Self.openingPatience)
      expectWatch(of: opening.leader)
    }

    /// Sends the exchange that opens a connection on a free stream of another connection instead, and drops the new
    /// connection. Returns false if no stream is free, or if other exchanges wait for the new connection.
    func useFreeStream(_ leader: EngineExchange) -> Bool {
      leader.pauseEnd = nil
      guard case .connecting(let connector) = leader.stage, let opening = openings[leader.origin],
        opening.leader === leader, opening.waiting.isEmpty,
        sharedPool.first(of: leader.origin, where: leader.mayShare) != nil
      else { return false }
      _ = endOpening(of: leader)
      leaveLookup(connector, of: leader.peer)
      connector.cancel()
      leader.stage = .unconnected
      (leader.connected, leader.nameResolved) = (nil, nil)
      place(leader)
      return true
    }

    private func hasFreeStream(_ origin: HTTPURL.Origin) -> Bool {
      sharedPool.first(of: origin) { $0.acceptsStreams } != nil
    }
  }
#endif
