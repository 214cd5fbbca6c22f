#if os(Linux)
  import CErrandCurl
  import ErrandHTTP
  import ErrandSupport
  import Synchronization

  /// Ends connections that keep the loop's thread busy without moving any transfer on.
  ///
  /// libcurl 7.88 reads an HTTP/2 connection until nothing is left, and only then returns. A server that sends frames
  /// without content faster than they are read keeps the thread for as long as it likes, and no callback is made
  /// meanwhile. So somebody else looks: if one turn of the loop lasts from one look to the next, no callback was made
  /// and one connection was read from, that connection is disconnected. The thread's other work, such as a sink that
  /// waits for a disk, reads from no connection.
  final class CurlWatchdog: Sendable {
    static let interval = Duration.milliseconds(20)
    /// Connections that were read from less than this between two looks are left alone.
    static let leastBytes: Int64 = 32 << 10

    /// What a look has found.
    struct Look: Sendable, Equatable {
      var turn = 0
      var callbacks = 0
      /// The bytes that were read from each socket so far.
      var read: [Int32: Int64] = [:]
    }

    private struct State: Sendable {
      var sockets: Set<Int32> = []
      var last = Look()
    }

    private let state = Locked(State())
    /// Odd while libcurl works.
    private let turn = Atomic(0)
    private let callbacks = Atomic(0)
    private let isLooking = Atomic(false)

    // MARK: The loop's thread

    func beginTurn() {
      turn.wrappingAdd(1, ordering: .relaxed)
      if !isLooking.exchange(true, ordering: .relaxed) { lookLater() }
    }

    func endTurn() { turn.wrappingAdd(1, ordering: .relaxed) }

    /// A transfer has moved on.
    func progressed() { callbacks.wrappingAdd(1, ordering: .relaxed) }

    func opened(_ socket: Int32) { state.withLock { _ = $0.sockets.insert(socket) } }

    /// Called before the socket is closed, so that no other one with its number is disconnected.
    func closed(_ socket: Int32) { state.withLock { _ = $0.sockets.remove(socket) } }

    // MARK: The timers' thread

    private func lookLater() {
      _ = SharedTimers.shared.schedule(at: .now.advanced(by: Self.interval)) { [weak self] in self?.look() }
    }

    private func look() {
      let goesOn = state.withLock { state in
        let turn = turn.load(ordering: .relaxed)
        var look = Look(turn: turn, callbacks: callbacks.load(ordering: .relaxed))
        if !turn.isMultiple(of: 2) {
          for socket in state.sockets { look.read[socket] = errand_socket_consumed(socket) }
          if let socket = Self.culprit(before: state.last, now: look) { errand_socket_disconnect(socket) }
        }
        defer { state.last = look }
        return look.turn != state.last.turn || !turn.isMultiple(of: 2)
      }
      guard goesOn else { return isLooking.store(false, ordering: .relaxed) }
      lookLater()
    }

    /// The socket that has held up the loop between two looks; nil if none has.
    static func culprit(before: Look, now: Look) -> Int32? {
      guard now.turn == before.turn, !now.turn.isMultiple(of: 2), now.callbacks == before.callbacks else { return nil }
      let growth = now.read.compactMap { socket, read in before.read[socket].map { (socket, read - $0) } }
      return growth.filter { $0.1 >= leastBytes }.max { $0.1 < $1.1 }?.0
    }
  }
#endif
