#if os(Linux)
  import CErrandCurl
  import ErrandHTTP
  import ErrandSupport
  import Synchronization

  /// Disconnects sockets that keep the loop's thread busy without progress of any transfer.
  ///
  /// libcurl 7.88 returns only when an HTTP/2 connection has no more bytes to read. A server that sends frames without
  /// content faster than libcurl reads them blocks the thread, and no callback runs. So another thread checks the
  /// loop's thread at intervals. It disconnects a connection if three conditions are true from one check to the next:
  /// libcurl was in the same call, no callback ran, and bytes were read from the connection. Other work of the loop's
  /// thread, such as a sink that waits for a disk, reads from no connection.
  final class CurlWatchdog: Sendable {
    static let interval = Duration.milliseconds(20)
    /// The minimum number of bytes that must be read from a connection between two checks before the connection is
    /// disconnected.
    static let leastBytes: Int64 = 32 << 10

    /// The values that one check of the watchdog reads.
    struct Sample: Sendable, Equatable {
      var turn = 0
      var callbacks = 0
      /// The number of bytes that were read from each socket until this check.
      var read: [Int32: Int64] = [:]
    }

    private struct State: Sendable {
      var sockets: Set<Int32> = []
      var last = Sample()
    }

    private let state = Locked(State())
    /// A counter that is increased when libcurl is called and when libcurl returns. The number is odd while libcurl
    /// runs.
    private let turn = Atomic(0)
    private let callbacks = Atomic(0)
    private let isCheckScheduled = Atomic(false)

    // MARK: The loop's thread

    func beginTurn() {
      turn.wrappingAdd(1, ordering: .relaxed)
      if !isCheckScheduled.exchange(true, ordering: .acquiringAndReleasing) { scheduleCheck() }
    }

    func endTurn() { turn.wrappingAdd(1, ordering: .relaxed) }

    func progressed() { callbacks.wrappingAdd(1, ordering: .relaxed) }

    func opened(_ socket: Int32) { state.withLock { _ = $0.sockets.insert(socket) } }

    /// Stops watching a socket. Called before the socket is closed, so that a new socket with the same number is not
    /// disconnected.
    func closed(_ socket: Int32) { state.withLock { _ = $0.sockets.remove(socket) } }

    // MARK: Thread of the shared timers

    private func scheduleCheck() {
      _ = SharedTimers.shared.schedule(at: .now.advanced(by: Self.interval)) { [weak self] in self?.check() }
    }

    private func check() {
      let (checked, isInUse) = state.withLock { state -> (Int, Bool) in
        let turn = turn.load(ordering: .relaxed)
        var sample = Sample(turn: turn, callbacks: callbacks.load(ordering: .relaxed))
        if !turn.isMultiple(of: 2) {
          for socket in state.sockets { sample.read[socket] = errand_socket_consumed(socket) }
          if let socket = Self.culprit(before: state.last, now: sample) { errand_socket_disconnect(socket) }
        }
        defer { state.last = sample }
        return (turn, sample.turn != state.last.turn || !turn.isMultiple(of: 2))
      }
      if isInUse || mustCheckAgain(after: checked) { scheduleCheck() }
    }

    /// Ends the checks because the loop is idle. Returns true if the loop's thread has called libcurl since a turn. That
    /// thread then relies on another check, which the caller must schedule.
    ///
    /// Each of the two threads first changes its own variable and then exchanges `isCheckScheduled`. So either the
    /// loop's thread schedules the check, or this function sees the new turn.
    func mustCheckAgain(after turn: Int) -> Bool {
      _ = isCheckScheduled.exchange(false, ordering: .acquiringAndReleasing)
      guard self.turn.load(ordering: .relaxed) != turn else { return false }
      return !isCheckScheduled.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// The socket that blocked the loop between two checks. Nil if no socket blocked the loop.
    static func culprit(before: Sample, now: Sample) -> Int32? {
      guard now.turn == before.turn, !now.turn.isMultiple(of: 2), now.callbacks == before.callbacks else { return nil }
      let growth = now.read.compactMap { socket, read in before.read[socket].map { (socket, read - $0) } }
      return growth.filter { $0.1 >= leastBytes }.max { $0.1 < $1.1 }?.0
    }
  }
#endif
