import Foundation

#if canImport(CErrandFiles)
  import CErrandFiles
#endif

/// The real file system. Each method makes a system call.
package struct SystemFiles: TransferFiles {
  package init() {}

  package func open(_ path: String, _ opening: FileOpening) throws(FileFailure) -> Int32 {
    let flags =
      switch opening {
      case .new: O_RDWR | O_CREAT | O_EXCL
      case .existing: O_RDWR
      case .reading: O_RDONLY
      }
    // Without `O_NONBLOCK`, opening a named pipe would wait until another process opens the pipe, too.
    let all = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    return try Self.result(.open, path) { Foundation.open(path, all, 0o600) }
  }

  /// Closes a descriptor. If a signal interrupts the system call `close`, it is not repeated. On Linux the descriptor
  /// is already closed then, and another thread may have received the same descriptor number.
  package func close(_ file: Int32) throws(FileFailure) {
    if Foundation.close(file) != 0, errno != EINTR { throw FileFailure(.close, code: errno) }
  }

  package func read(
    _ file: Int32, into memory: UnsafeMutableRawBufferPointer, at place: Int64
  ) throws(FileFailure) -> Int {
    var done = 0
    while done < memory.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
      let offset = try Self.offset(.read, place, done)
      let count = try Self.result(.read) { pread(file, rest.baseAddress, rest.count, offset) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at place: Int64) throws(FileFailure) {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let offset = try Self.offset(.write, place, done)
      let count = try Self.result(.write) { pwrite(file, rest.baseAddress, rest.count, offset) }
      guard count > 0 else { throw FileFailure(.write, code: EIO) }
      done += count
    }
  }

  package func truncate(_ file: Int32, to length: Int64) throws(FileFailure) {
    let length = try Self.offset(.truncate, length, 0)
    _ = try Self.result(.truncate) { ftruncate(file, length) }
  }

  package func status(of file: Int32) throws(FileFailure) -> FileStatus {
    var status = stat()
    _ = try Self.result(.status) { fstat(file, &status) }
    return Self.status(status)
  }

  package func status(at path: String) throws(FileFailure) -> FileStatus? {
    var status = stat()
    do {
      _ = try Self.result(.status, path) { lstat(path, &status) }
      return Self.status(status)
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
  }

  package func setPermissions(of file: Int32, to mode: UInt16) throws(FileFailure) {
    _ = try Self.result(.permissions) { fchmod(file, mode_t(mode)) }
  }

  package func freeSpace(in folder: String) throws(FileFailure) -> Int64 {
    var space = statvfs()
    _ = try Self.result(.space, folder) { statvfs(folder, &space) }
    // Some file systems report no sizes. Their free space counts as unlimited.
    guard space.f_blocks > 0 else { return .max }
    let (bytes, overflow) = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
    return overflow ? .max : Int64(clamping: bytes)
  }

  package func lock(_ file: Int32) throws(FileFailure) {
    _ = try Self.result(.lock) { flock(file, LOCK_EX | LOCK_NB) }
  }

  package func rename(_ path: String, to other: String) throws(FileFailure) {
    _ = try Self.result(.rename, path) { Foundation.rename(path, other) }
  }

  package func remove(_ path: String) throws(FileFailure) {
    _ = try Self.result(.remove, path) { unlink(path) }
  }

  package func synchronizeFolder(_ path: String) throws(FileFailure) {
    do {
      let folder = try Self.result(.synchronize, path) {
        Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      }
      defer { _ = Foundation.close(folder) }
      _ = try Self.result(.synchronize, path) { fsync(folder) }
    } catch {
      if !Self.cannotSynchronizeFolder(error.code) { throw error }
    }
  }

  /// Whether an error number says that a folder cannot be synchronized at all, so that the error is ignored. Some file
  /// systems report `EINVAL` or `ENOTSUP`. `EACCES` is the error of a folder, such as a drop box, in which the user may
  /// create files, but may not read the folder.
  static func cannotSynchronizeFolder(_ code: Int32) -> Bool { [EACCES, EINVAL, ENOTSUP].contains(code) }

  package func names(in folder: String) throws(FileFailure) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
      throw FileFailure(.list, folder, code: cause.map { Int32(clamping: $0.code) } ?? ENOENT)
    }
  }
}

extension SystemFiles {
  /// Runs a system call, and repeats it as long as a signal interrupts it (`EINTR`). Any other negative result is
  /// thrown as an error.
  static func result<Number: SignedInteger>(
    _ operation: FileFailure.Operation, _ path: String = "", _ call: () -> Number
  ) throws(FileFailure) -> Number {
    while true {
      let result = call()
      if result >= 0 { return result }
      let code = errno
      if code != EINTR { throw FileFailure(operation, path, code: code) }
    }
  }

  private static func offset(
    _ operation: FileFailure.Operation, _ place: Int64, _ more: Int
  ) throws(FileFailure) -> off_t {
    let (sum, overflow) = place.addingReportingOverflow(Int64(more))
    guard !overflow, sum >= 0, let offset = off_t(exactly: sum) else { throw FileFailure(operation, code: EFBIG) }
    return offset
  }

  private static func status(_ status: stat) -> FileStatus {
    let kind: FileStatus.Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    let identity = FileIdentity(
      device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
    #if canImport(Darwin)
      let modified = status.st_mtimespec
    #else
      let modified = status.st_mtim
    #endif
    return FileStatus(
      kind: kind, length: Int64(status.st_size), links: Int(clamping: status.st_nlink),
      isOwn: status.st_uid == geteuid(), identity: identity,
      modified: FileTime(seconds: Int64(modified.tv_sec), nanoseconds: Int64(modified.tv_nsec)))
  }
}

extension SystemFiles {
  #if canImport(Darwin)
    /// Synchronizes a file to disk with `F_FULLFSYNC`, because on Apple platforms `fsync` leaves the bytes in the cache
    /// of the drive. If the file system does not support `F_FULLFSYNC`, `fsync` is used.
    package func synchronize(_ file: Int32) throws(FileFailure) {
      if fcntl(file, F_FULLFSYNC) == 0 { return }
      _ = try Self.result(.synchronize) { fsync(file) }
    }

    package func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool {
      var status = stat()
      _ = try Self.result(.status) { fstat(file, &status) }
      let missing = Self.unreserved(of: length, size: Int64(status.st_size), blocks: Int64(status.st_blocks))
      guard missing > 0 else { return true }
      var wish = fstore_t(
        fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: off_t(missing),
        fst_bytesalloc: 0)
      return try Self.unlessUnsupported { () throws(FileFailure) in
        _ = try Self.result(.reserve) { fcntl(file, F_PREALLOCATE, &wish) }
      }
    }

    private static func renameUnlessUsed(_ path: String, _ other: String) -> Int32 {
      renamex_np(path, other, UInt32(RENAME_EXCL))
    }
  #else
    /// Synchronizes a file to disk with `fdatasync`. This function writes the contents and the length, but not the
    /// times of the file. The times are not needed, so a write of the inode is saved.
    package func synchronize(_ file: Int32) throws(FileFailure) {
      _ = try Self.result(.synchronize) { fdatasync(file) }
    }

    /// Reserves disk space for a file. `posix_fallocate` is not used, because it changes the length of the file. It
    /// also writes every block if the file system does not support reservations.
    package func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool {
      guard length > 0 else { return true }
      return try Self.unlessUnsupported { () throws(FileFailure) in
        _ = try Self.result(.reserve) { errand_reserve(file, length) }
      }
    }

    private static func renameUnlessUsed(_ path: String, _ other: String) -> Int32 {
      errand_rename_exclusively(path, other)
    }
  #endif

  /// The number of bytes to allocate, so that a file with this size and this number of blocks of 512 bytes has space
  /// for `length` bytes. `F_PREALLOCATE` adds its bytes after the last allocated block and not after the last byte, so
  /// bytes that an earlier call has reserved are subtracted.
  static func unreserved(of length: Int64, size: Int64, blocks: Int64) -> Int64 {
    let (bytes, overflow) = blocks.multipliedReportingOverflow(by: 512)
    let present = max(overflow ? .max : bytes, size, 0)
    return length > present ? length - present : 0
  }

  package func renameExclusively(_ path: String, to other: String) throws(FileFailure) {
    do {
      _ = try Self.result(.rename, path) { Self.renameUnlessUsed(path, other) }
    } catch {
      guard Self.isUnsupported(error.code) else { throw error }
      try renameByLink(path, to: other)
    }
  }

  /// Renames a file in two steps, and fails if the new name is in use: creates a hard link with the new name, and then
  /// removes the old name. A crash between the two steps leaves both names. If the old name cannot be removed, the new
  /// name is removed again. An old name that is already missing counts as removed.
  /// - Parameters:
  ///   - makeLink: Makes a hard link from the first to the second path. Tests pass a function that fails.
  ///   - removeOld: Removes the old name. Tests pass a function that fails.
  func renameByLink(
    _ path: String, to other: String,
    makeLink: (String, String) throws(FileFailure) -> Void = { (path: String, other: String) throws(FileFailure) in
      _ = try SystemFiles.result(.rename, path) { link(path, other) }
    },
    removeOld: (String) throws(FileFailure) -> Void = { (path: String) throws(FileFailure) in
      try SystemFiles().remove(path)
    }
  ) throws(FileFailure) {
    do {
      try makeLink(path, other)
    } catch {
      // `EPERM` means that the file system has no hard links, as exFAT.
      if error.code == EPERM || Self.isUnsupported(error.code) { return try renameByReplacing(path, to: other) }
      // A network file system may repeat a link whose reply was lost, and an earlier process may have ended between the
      // two steps. The new name then already belongs to this file.
      guard error.kind == .exists, let found = try status(at: other),
        try status(at: path)?.identity == found.identity
      else { throw error }
    }
    do {
      try removeOld(path)
    } catch {
      // If another process has removed the old name, or a network file system has repeated the removal, only the new
      // name is left.
      if error.kind == .notFound { return }
      try? remove(other)
      throw error
    }
  }

  /// Renames a file in two steps, and fails if the new name is in use: creates an empty file with the new name, and then
  /// replaces it. A crash between the two steps leaves the empty file.
  private func renameByReplacing(_ path: String, to other: String) throws(FileFailure) {
    let file = try open(other, .new)
    try? close(file)
    do {
      try rename(path, to: other)
    } catch {
      // A network file system may have renamed the file and report a failure all the same. The file is then kept.
      if (try? status(at: other))?.length == 0 { try? remove(other) }
      throw error
    }
  }

  private static func isUnsupported(_ code: Int32) -> Bool {
    code == EINVAL || code == ENOSYS || code == ENOTSUP || code == EOPNOTSUPP
  }

  private static func unlessUnsupported(_ body: () throws(FileFailure) -> Void) throws(FileFailure) -> Bool {
    do {
      try body()
      return true
    } catch {
      if isUnsupported(error.code) { return false }
      throw error
    }
  }
}
