import Foundation

/// Starts detached threads. Only the targets of this package can use this type, because no product exports it.
public enum DetachedThread {
  private final class Work {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Runs `body` on a new thread, which ends when `body` returns.
  ///
  /// The thread blocks two signals: SIGPIPE (broken connection) and SIGXFSZ (file size limit). So if the connection
  /// breaks or the limit is reached, the system call fails, but the process continues.
  /// - Returns: False if the system cannot create another thread.
  public static func start(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(name, body))
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(
        &thread, nil,
        { argument in
          DetachedThread.run(argument)
          return nil
        }, work.toOpaque())
    #else
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil,
        { argument in
          if let argument { DetachedThread.run(argument) }
          return nil
        }, work.toOpaque())
    #endif
    guard code == 0 else {
      work.release()
      return false
    }
    #if canImport(Darwin)
      if let thread { pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
    return true
  }

  private static func run(_ argument: UnsafeMutableRawPointer) {
    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
    Thread.current.name = work.name
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    work.body()
  }
}

#if canImport(Glibc)
  /// A number that identifies the current thread among all running threads.
  package var currentThread: UInt { UInt(pthread_self()) }
#else
  /// A number that identifies the current thread among all running threads.
  package var currentThread: UInt { UInt(bitPattern: pthread_self()) }
#endif
