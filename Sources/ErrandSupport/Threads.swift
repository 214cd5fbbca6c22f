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

/// A pipe that wakes a thread that waits in `poll`. Other threads write to the pipe.
package final class WakePipe: Sendable {
  /// The file descriptor of the end of the pipe from which the waiting thread reads. The thread passes it to `poll`.
  package let readEnd: Int32
  private let writeEnd: Int32

  /// Makes a pipe; nil if the process has no free file descriptors.
  package init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Wakes the thread that waits in `poll`. If the pipe is full, an earlier call already wakes the thread.
  package func wake() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Discards all bytes in the pipe.
  package func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd, &bytes, bytes.count) > 0 {}
  }
}
