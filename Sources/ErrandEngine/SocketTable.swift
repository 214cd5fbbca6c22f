#if os(Linux)
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
