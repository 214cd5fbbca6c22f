import Foundation

/// Writes to an open file, pipe, socket or terminal without blocking for long, so that a slow or absent reader does not
/// delay a cancellation.
struct DescriptorWriter {
  /// The number of bytes that a writable pipe accepts without blocking.
  private static let pipePiece = 4_096
  /// The maximum time in milliseconds for which one call of `poll` waits until the descriptor is writable.
  private static let patience: Int32 = 50

  private let file: Int32
  private let isPlain: Bool

  init(_ file: Int32) {
    self.file = file
    var status = stat()
    isPlain = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Writes all bytes to the descriptor. Stops earlier if `goesOn` returns false.
  func write(_ bytes: UnsafeRawBufferPointer, while goesOn: () -> Bool) throws(FileFailure) {
    var rest = bytes[...]
    while !rest.isEmpty, goesOn() {
      guard isPlain || hasRoom() else { continue }
      let piece = isPlain ? rest : rest.prefix(Self.pipePiece)
      let count = Self.withoutSignal {
        Foundation.write(file, UnsafeRawBufferPointer(rebasing: piece).baseAddress, piece.count)
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR, errno != EAGAIN {
        throw FileFailure(.write, code: errno)
      }
    }
  }

  /// Whether the descriptor accepts bytes now. The value is also true if the descriptor has an error, for example
  /// because it is closed. The next write then reports the error.
  private func hasRoom() -> Bool {
    guard file >= 0 else { return true }
    var question = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
    return poll(&question, 1, Self.patience) != 0
  }

  /// Runs a write to a descriptor. Writing to a pipe without a reader raises SIGPIPE, which would end the process. So
  /// the signal is blocked during the write and discarded afterwards.
  private static func withoutSignal(_ write: () -> Int) -> Int {
    var pipe = sigset_t()
    var before = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    let count = write()
    let code = errno
    if count < 0, code == EPIPE {
      var pending = sigset_t()
      sigpending(&pending)
      var signal: Int32 = 0
      if sigismember(&pending, SIGPIPE) == 1 { sigwait(&pipe, &signal) }
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return count
  }
}
