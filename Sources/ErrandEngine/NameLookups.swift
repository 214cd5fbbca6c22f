#if os(Linux)
  import ErrandHTTP
  import ErrandSupport

  /// Looks names up on threads of its own, since the system's look-up blocks. All transports share them.
  ///
  /// A look-up that takes long delays others only if as many of them are under way as there may be threads.
  final class NameLookups: Sendable {
    typealias Answer = Result<[SocketAddress], SocketAddress.LookupFailure>

    private struct Job: Sendable {
      let host: String
      let port: Int
      let done: @Sendable (Answer) -> Void
    }

    private struct State: Sendable {
      var waiting: [Job] = []
      var threads = 0
    }

    static let shared = NameLookups(mostThreads: 16)

    private let mostThreads: Int
    private let find: @Sendable (String, Int) -> Answer
    private let state = Locked(State())

    /// Makes look-ups. `find` takes the place of the system in tests.
    init(
      mostThreads: Int,
      find: @escaping @Sendable (String, Int) -> Answer = { SocketAddress.addresses(of: $0, port: $1) }
    ) {
      self.mostThreads = mostThreads
      self.find = find
    }

    /// Looks a host up, and calls `done` on a thread of the look-ups.
    func addresses(of host: String, port: Int, _ done: @escaping @Sendable (Answer) -> Void) {
      let job = Job(host: host, port: port, done: done)
      let needsThread = state.withLock { state in
        state.waiting.append(job)
        guard state.threads < mostThreads else { return false }
        state.threads += 1
        return true
      }
      if needsThread, !DetachedThread.start(named: "errand.names", { [self] in work() }) { abandon() }
    }

    /// Looks up what waits, then ends.
    private func work() {
      while let job = next() { job.done(find(job.host, job.port)) }
    }

    private func next() -> Job? {
      state.withLock { state in
        if state.waiting.isEmpty {
          state.threads -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
    }

    /// A thread could not be started. What waits is failed if no other thread is there for it.
    private func abandon() {
      let stranded = state.withLock { state in
        state.threads -= 1
        guard state.threads == 0 else { return [Job]() }
        defer { state.waiting = [] }
        return state.waiting
      }
      for job in stranded { job.done(.failure(SocketAddress.LookupFailure(text: FailureText.outOfRoom))) }
    }
  }
#endif
