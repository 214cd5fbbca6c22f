#if os(Linux)
  import CErrandCurl
  import Glibc

  /// Starts detached threads.
  enum CurlThread {
    private final class Work {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own, which ends with it. No signal that a broken pipe raises ends the process
    /// there. False where the system has no room for one more thread.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
      let work = Unmanaged.passRetained(Work(body))
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
          errand_thread_prepare("errand.curl")
          work.body()
          return nil
        }, work.toOpaque())
      guard code == 0 else {
        work.release()
        return false
      }
      pthread_detach(thread)
      return true
    }
  }
#endif
