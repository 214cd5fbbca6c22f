#if os(Linux)
  import CErrandCurl
  import ErrandHTTP
  import ErrandSupport
  import Synchronization

  /// Disconnects sockets that keep the loop's thread busy without progress of any transfer.
  ///
  /// libcurl 7.88 returns only when an HTTP/2 connection has no more bytes to read. A server that sends frames without
  /// content faster than they are read blocks the thread, and no callback runs. So another thread checks the loop's
  /// thread at intervals. It disconnects a connection if three things are true from one check to the next: libcurl was
  /// in the same call, no callback ran, and bytes were read from the connection. Other work of the loop's thread, such
  /// as a sink that waits for a disk, reads from no connection.
  final class CurlWatchdog: Sendable {
    static let interval = Duration.milliseconds(20)
    /// Connections from which fewer bytes than this were read between two checks are not disconnected.
    static let leastBytes: Int64 = 32 << 10

    /// The values of one check by the watchdog.
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
    /// The number of times that libcurl was entered or left. Odd while libcurl runs.
    private let turn = Atomic(0)
    private let callbacks = Atomic(0)
    private let isLooking = Atomic(false)

    // MARK: The loop's thread

    func beginTurn() {
      turn.wrappingAdd(1, ordering: .relaxed)
      if !isLooking.exchange(true, ordering: .relaxed) { lookLater() }
    }

    func endTurn() { turn.wrappingAdd(1, ordering: .relaxed) }

    /// Called when a transfer has made progress.
    func progressed() { callbacks.wrappingAdd(1, ordering: .relaxed) }

    func opened(_ socket: Int32) { state.withLock { _ = $0.sockets.insert(socket) } }

    /// Called before the socket is closed, so that another socket with the same number is not disconnected.
    func closed(_ socket: Int32) { state.withLock { _ = $0.sockets.remove(socket) } }

    // MARK: Thread of the shared timers

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

    /// The socket that blocked the loop between two checks; nil if there is none.
    static func culprit(before: Look, now: Look) -> Int32? {
      guard now.turn == before.turn, !now.turn.isMultiple(of: 2), now.callbacks == before.callbacks else { return nil }
      let growth = now.read.compactMap { socket, read in before.read[socket].map { (socket, read - $0) } }
      return growth.filter { $0.1 >= leastBytes }.max { $0.1 < $1.1 }?.0
    }
  }
#endif
