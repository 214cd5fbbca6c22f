import Foundation

/// An open file that is locked against other processes, or shared with them, for as long as the object lives.
final class FileLock: Sendable {
  let descriptor: Int32

  /// - Parameter descriptor: An open file; closed with the object.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// The lock for oneself alone. Nil where somebody keeps it or there is no such file.
  /// - Parameter most: For how many milliseconds to wait, about.
  static func alone(_ path: String, waiting most: Int = 2_000) -> FileLock? {
    guard let lock = opened(path) else { return nil }
    for _ in 0..<most {
      if lock.take(LOCK_EX) { return lock }
      usleep(1_000)
    }
    return nil
  }

  /// The lock together with others who share it. Nil where somebody has it alone or there is no such file.
  static func shared(_ path: String) -> FileLock? {
    guard let lock = opened(path), lock.take(LOCK_SH) else { return nil }
    return lock
  }

  /// The lock for oneself alone of a file that is there, if it is free now. Makes no file.
  static func aloneNow(existing path: String) -> FileLock? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    let lock = FileLock(descriptor)
    return lock.take(LOCK_EX) ? lock : nil
  }

  /// Shares the lock of an open file; false where somebody has it alone.
  func share() -> Bool { take(LOCK_SH) }

  private static func opened(_ path: String) -> FileLock? {
    let descriptor = SystemFile.openPrivate(path, 0)
    return descriptor < 0 ? nil : FileLock(descriptor)
  }

  /// True also where the file system knows no such locks.
  private func take(_ kind: Int32) -> Bool {
    while flock(descriptor, kind | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      return errno != EWOULDBLOCK
    }
    return true
  }
}
