import ErrandSupport
import Foundation

/// The newer part of a flight file, which calls are appended to. One thread at a time may use it.
final class FlightSegment: Sendable {
  let path: String
  private let limit: Int
  /// The open file; -1 if no file is open.
  private let descriptor = Locked<Int32>(-1)

  init(path: String, limit: Int) { (self.path, self.limit) = (path, limit) }

  deinit { close() }

  /// Opens the file. Returns the reason if that failed or the file is no flight file; nil on success.
  func prepare() -> String? {
    if let failure = open() { return failure }
    guard let start = ArchiveFile.start(of: file), Self.accepts(start) else {
      return "“\(path)” exists and is no flight file. Remove it, or use another name."
    }
    return FlightLines.hasNoCalls(start) ? begin() : nil
  }

  private static func accepts(_ start: Data) -> Bool {
    FlightLines.hasNoCalls(start) || FlightLines.isFlightFile(start)
  }

  /// Writes the first line of a file without calls, so that the file can be read before the first call has ended.
  private func begin() -> String? {
    // A process that has the lock begins the file, or renames it.
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return nil }
    defer { _ = flock(file, LOCK_UN) }
    guard let start = ArchiveFile.start(of: file), FlightLines.hasNoCalls(start) else { return nil }
    if !start.isEmpty, ftruncate(file, 0) != 0 { return failure(errno) }
    return write(FlightLines.header)
  }

  /// Appends bytes in one system call. Returns the reason if that failed; nil on success.
  func append(_ bytes: Data) -> String? {
    // A file that is renamed by another process while this loop runs is opened again; twice is hardly ever needed.
    for _ in 0..<4 {
      if let failure = open() { return failure }
      guard let size = currentSize() else {
        close()
        continue
      }
      let header = size == 0 ? FlightLines.header : Data()
      if size > 0, size + bytes.count > limit / 8 * 3, rename() { continue }
      // The file stays longer than its share if it cannot be renamed, or while another process renames it.
      guard size + header.count + bytes.count <= min(limit / 2, Self.largestFile) else {
        return
          "“\(path)” is full, and it cannot be renamed to “\(path).1”. Check the folder and the limits of the disk."
      }
      return write(header + bytes)
    }
    return "“\(path)” is replaced again and again by other processes. Use a file of its own for each of them."
  }

  /// The size of the open file; nil if the path leads to another file now.
  private func currentSize() -> Int? {
    var (open, named) = (stat(), stat())
    guard fstat(file, &open) == 0, lstat(path, &named) == 0 else { return nil }
    return open.st_ino == named.st_ino && open.st_dev == named.st_dev ? Int(open.st_size) : nil
  }

  /// Makes the file the older part, and closes it. Returns false if that failed, or if another process does it.
  private func rename() -> Bool {
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return false }
    // Another process may have renamed the file before the lock was obtained.
    guard currentSize() == nil || Foundation.rename(path, path + ".1") == 0 else {
      // The file stays open: calls are appended to it until it is full.
      _ = flock(file, LOCK_UN)
      return false
    }
    // Closing the file removes the lock.
    close()
    return true
  }

  private func write(_ bytes: Data) -> String? {
    let file = file
    let written = bytes.withUnsafeBytes { bytes in
      var result = Foundation.write(file, bytes.baseAddress, bytes.count)
      while result < 0, errno == EINTR { result = Foundation.write(file, bytes.baseAddress, bytes.count) }
      return result
    }
    if written == bytes.count { return nil }
    // A cut line is followed by a line feed of the next call, so it damages no other line.
    return failure(written < 0 ? errno : ENOSPC)
  }

  // MARK: - The open file

  private var file: Int32 { descriptor.withLock { $0 } }

  /// Opens the file unless it is open. Returns the reason if that failed.
  private func open() -> String? {
    if file >= 0 { return nil }
    // Without `O_NONBLOCK`, opening a named pipe would wait.
    let flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let new = Foundation.open(path, flags, 0o600)
    guard new >= 0 else { return failure(errno) }
    var status = stat()
    guard fstat(new, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      _ = Foundation.close(new)
      return "“\(path)” is no file of the current user. Use another name."
    }
    guard makePrivate(new, status) else {
      let reason = failure(errno)
      _ = Foundation.close(new)
      return reason
    }
    descriptor.withLock { $0 = new }
    return nil
  }

  /// Takes the permissions of other users from a flight file. Returns false if that failed. Other files, which are
  /// rejected later, stay as they are.
  private func makePrivate(_ file: Int32, _ status: stat) -> Bool {
    guard status.st_mode & 0o077 != 0 else { return true }
    guard let start = ArchiveFile.start(of: file), Self.accepts(start) else { return true }
    return fchmod(file, 0o600) == 0
  }

  private func close() {
    let old = descriptor.withLock { descriptor in
      defer { descriptor = -1 }
      return descriptor
    }
    if old >= 0 { _ = Foundation.close(old) }
  }

  private func failure(_ code: Int32) -> String {
    "“\(path)” cannot be written: \(String(cString: strerror(code))). Check the folder and the free space."
  }

  /// The largest size that a file of this process may have. A longer write would end the process by SIGXFSZ.
  private static var largestFile: Int {
    var limits = rlimit()
    #if canImport(Darwin)
      let isKnown = getrlimit(RLIMIT_FSIZE, &limits) == 0
    #else
      let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0
    #endif
    return isKnown ? Int(clamping: limits.rlim_cur) : .max
  }
}
