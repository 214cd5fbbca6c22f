import Foundation

/// Basic file operations by system calls. A symbolic link in place of a file is not followed.
package enum SystemFile {
  package enum Kind { case nothing, file, folder, other }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  private static func status(_ descriptor: Int32) -> stat? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status : nil
  }

  package static func kind(_ path: String) -> Kind {
    guard let status = status(path) else { return .nothing }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    default: return .other
    }
  }

  /// The length of a file in bytes; 0 if the file does not exist.
  package static func length(_ path: String) -> Int { Int(status(path)?.st_size ?? 0) }

  /// The length of an open file in bytes; 0 if the length is unknown.
  static func length(_ descriptor: Int32) -> Int { Int(status(descriptor)?.st_size ?? 0) }

  /// Whether the disk of a path has less than 64 KiB left for the user. False if that is unknown.
  static func isFull(_ path: String) -> Bool {
    var space = statvfs()
    guard statvfs(path, &space) == 0 else { return false }
    let (bytes, isLarger) = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
    return !isLarger && bytes < 65_536
  }

  /// Numbers that identify a file. If another file takes the name of this file, its numbers differ.
  static func identity(_ path: String) -> [UInt64] { identity(status(path)) }

  /// Numbers that identify an open file.
  static func identity(_ descriptor: Int32) -> [UInt64] { identity(status(descriptor)) }

  private static func identity(_ status: stat?) -> [UInt64] {
    guard let status else { return [] }
    return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
  }

  /// The result of reading a whole file.
  enum Content {
    case bytes(Data), tooLong, missing
    /// The file could not be opened or read, perhaps only for the moment.
    case unreadable
  }

  /// The content of a file; nil if the file is longer than the maximum or cannot be read.
  static func read(_ path: String, atMost most: Int) -> Data? {
    if case .bytes(let bytes) = content(path, atMost: most) { bytes } else { nil }
  }

  /// Reads a file. Returns its content, or the reason why the file was not read, for example that the file is longer
  /// than the maximum.
  static func content(_ path: String, atMost most: Int) -> Content {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return errno == ENOENT ? .missing : .unreadable }
    defer { close(descriptor) }
    guard let status = status(descriptor), status.st_size >= 0 else { return .unreadable }
    guard status.st_size <= most else { return .tooLong }
    return read(descriptor, count: Int(status.st_size)).map(Content.bytes) ?? .unreadable
  }

  /// The first `count` bytes of an open file; nil if the file is shorter.
  static func read(_ descriptor: Int32, count: Int) -> Data? {
    guard count > 0 else { return Data() }
    guard let memory = malloc(count) else { return nil }
    var done = 0
    while done < count {
      let result = pread(descriptor, memory + done, count - done, off_t(done))
      if result < 0, errno == EINTR { continue }
      guard result > 0 else {
        free(memory)
        return nil
      }
      done += result
    }
    return Data(bytesNoCopy: memory, count: count, deallocator: .free)
  }

  /// Writes bytes at the start of an open file. Returns false if that failed.
  static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
    var done = 0
    while done < bytes.count, let base = bytes.baseAddress {
      let result = pwrite(descriptor, base + done, bytes.count - done, off_t(done))
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { return false }
      done += result
    }
    return true
  }

  /// Opens a file, and creates it if it does not exist. Only the user can access the new file, whatever the umask is.
  package static func openPrivate(_ path: String, _ flags: Int32) -> Int32 {
    let descriptor = open(path, flags | O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { fchmod(descriptor, 0o600) }
    return descriptor
  }

  /// Creates a folder and the missing folders above it. Only the user can access the new folder, whatever the umask is.
  package static func makeFolder(_ path: String) -> Bool {
    if kind(path) == .nothing {
      let above = (path as NSString).deletingLastPathComponent
      if !above.isEmpty, above != path { _ = makeFolder(above) }
      _ = mkdir(path, 0o700)
    }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
    return true
  }

  /// Whether a file belongs to another user.
  package static func isForeign(_ path: String) -> Bool {
    guard let status = status(path) else { return false }
    return status.st_uid != geteuid()
  }

  /// Synchronises a file with the disk. Returns true if the file does not exist.
  package static func synchronize(file path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return errno == ENOENT }
    defer { close(descriptor) }
    return fsync(descriptor) == 0
  }

  /// Makes sure that the disk contains the current names of the files in a folder. Returns false if that failed.
  package static func synchronize(folder path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // EINVAL means that the file system does not support this operation.
    return fsync(descriptor) == 0 || errno == EINVAL
  }

  package static func names(_ path: String) -> [String] { namesIfReadable(path) ?? [] }

  /// The names in a folder; nil if the folder cannot be read.
  static func namesIfReadable(_ path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

/// An open file with an exclusive or a shared lock, which other processes respect. The lock is released when this
/// object is deallocated.
package final class FileLock: Sendable {
  let descriptor: Int32

  /// Makes an object for an open file, without taking a lock. The file is closed when this object is deallocated.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Opens a file and takes its exclusive lock. Nil if the file cannot be opened, or if another process still holds a
  /// lock of the file at the end of the wait.
  /// - Parameter most: The longest time to wait for the lock, in milliseconds (approximately).
  package static func alone(_ path: String, waiting most: Int = 2_000) -> FileLock? {
    guard let lock = opened(path) else { return nil }
    for _ in 0..<most {
      if lock.take(LOCK_EX) { return lock }
      usleep(1_000)
    }
    return nil
  }

  /// Opens a file and takes its shared lock. Nil if another process holds the exclusive lock or the file cannot be
  /// opened.
  package static func shared(_ path: String) -> FileLock? {
    guard let lock = opened(path), lock.take(LOCK_SH) else { return nil }
    return lock
  }

  /// Takes the exclusive lock of an existing file without waiting. Nil if the file does not exist or another process
  /// holds a lock.
  package static func aloneNow(existing path: String) -> FileLock? {
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
