import Foundation

/// An open file with an exclusive or a shared lock, which other processes respect. The lock is released when this
/// object is deallocated.
final class FileLock: Sendable {
  let descriptor: Int32

  /// Makes an object for an open file, without taking a lock. The file is closed when this object is deallocated.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Opens a file and takes its exclusive lock. Nil if the file cannot be opened, or if another process still holds a
  /// lock of the file at the end of the wait.
  /// - Parameter most: The longest time to wait for the lock, in milliseconds (approximately).
  static func alone(_ path: String, waiting most: Int = 2_000) -> FileLock? {
    guard let lock = opened(path) else { return nil }
    for _ in 0..<most {
      if lock.take(LOCK_EX) { return lock }
      usleep(1_000)
    }
    return nil
  }

  /// Opens a file and takes its shared lock. Nil if another process holds the exclusive lock or the file cannot be
  /// opened.
  static func shared(_ path: String) -> FileLock? {
    guard let lock = opened(path), lock.take(LOCK_SH) else { return nil }
    return lock
  }

  /// Takes the exclusive lock of an existing file without waiting. Nil if the file does not exist or another process
  /// holds a lock.
  static func aloneNow(existing path: String) -> FileLock? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    let lock = FileLock(descriptor)
    return lock.take(LOCK_EX) ? lock : nil
  }

  /// Takes the shared lock of the open file. Returns false if another process holds the exclusive lock.
  func share() -> Bool { take(LOCK_SH) }

  private static func opened(_ path: String) -> FileLock? {
    let descriptor = SystemFile.openPrivate(path, 0)
    return descriptor < 0 ? nil : FileLock(descriptor)
  }

  /// Tries to take a lock without waiting. Returns true as well if the file system does not support such locks.
  private func take(_ kind: Int32) -> Bool {
    while flock(descriptor, kind | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      return errno != EWOULDBLOCK
    }
    return true
  }
}
