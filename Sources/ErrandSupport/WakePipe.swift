import Foundation

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
