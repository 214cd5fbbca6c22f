import Foundation

/// Writes to an open file, pipe, socket or terminal so that whoever reads slowly, or not at all, can be left at any time.
struct DescriptorWriter {
  /// How much a pipe that has room takes without waiting.
  private static let pipePiece = 4_096
  /// How long one look for room takes at most, in milliseconds.
  private static let patience: Int32 = 50

  private let file: Int32
  private let isPlain: Bool

  init(_ file: Int32) {
    self.file = file
    var status = stat()
    isPlain = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Writes all, unless `goesOn` says no in between.
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

  /// Whether a little can be written now; true also where the system has an error to tell, as for a closed handle.
  private func hasRoom() -> Bool {
    guard file >= 0 else { return true }
    var question = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
    return poll(&question, 1, Self.patience) != 0
  }

  /// A pipe without a reader raises a signal that would end the process: it is held back and taken away.
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
