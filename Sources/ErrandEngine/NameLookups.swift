#if os(Linux)
  import ErrandHTTP
  import ErrandSupport

  /// Looks up host names on separate threads, because the system's lookup blocks. All transports share these threads.
  ///
  /// A slow lookup delays other lookups only if all threads are in use.
  final class NameLookups: Sendable {
    typealias Answer = Result<[SocketAddress], SocketAddress.LookupFailure>

    private struct Job: Sendable {
      let number: Int
      let host: String
      let port: Int
      let done: @Sendable (Answer) -> Void
    }

    private struct State: Sendable {
      var waiting: [Job] = []
      var threads = 0
      /// The number of the last lookup.
      var number = 0
    }

    static let shared = NameLookups(mostThreads: 16)

    private let mostThreads: Int
    private let find: @Sendable (String, Int) -> Answer
    private let state = Locked(State())

    /// Creates an object that looks up names. `find` looks up one host; tests pass their own `find` instead of the
    /// system's lookup.
    init(
      mostThreads: Int,
      find: @escaping @Sendable (String, Int) -> Answer = { SocketAddress.addresses(of: $0, port: $1) }
    ) {
      self.mostThreads = mostThreads
      self.find = find
    }

    /// Looks up a host, and calls `done` on one of the lookup threads. Returns the number of the lookup.
    @discardableResult
    func addresses(of host: String, port: Int, _ done: @escaping @Sendable (Answer) -> Void) -> Int {
      let (number, needsThread) = state.withLock { state in
        state.number += 1
        state.waiting.append(Job(number: state.number, host: host, port: port, done: done))
        guard state.threads < mostThreads else { return (state.number, false) }
        state.threads += 1
        return (state.number, true)
      }
      if needsThread, !DetachedThread.start(named: "errand.names", { [self] in work() }) { abandon() }
      return number
    }

    /// Removes a lookup that has not begun, so that it does not delay others. `done` is then not called. Returns false if
    /// the lookup has begun.
    @discardableResult
    func cancel(_ number: Int) -> Bool {
      state.withLock { state in
        guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return false }
        state.waiting.remove(at: index)
        return true
      }
    }

    /// Performs the waiting lookups, then ends the thread.
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

    /// Handles a failed start of a lookup thread. If no other lookup thread runs, all waiting lookups fail.
    private func abandon() {
      let stranded = state.withLock { state in
        state.threads -= 1
        guard state.threads == 0 else { return [Job]() }
        defer { state.waiting = [] }
        return state.waiting
      }
      for job in stranded { job.done(.failure(SocketAddress.LookupFailure(text: FailureText.outOfResources))) }
    }
  }
#endif
