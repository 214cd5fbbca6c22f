import Foundation

#if canImport(CErrandFiles)
  import CErrandFiles
#endif

extension SystemFiles {
  #if canImport(Darwin)
    /// `fsync` on Apple's systems leaves the bytes in the drive's own memory; F_FULLFSYNC does not, where it is known.
    package func synchronize(_ file: Int32) throws(FileFailure) {
      if fcntl(file, F_FULLFSYNC) == 0 { return }
      _ = try Self.result(.synchronize) { fsync(file) }
    }

    package func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool {
      let missing = length - (try status(of: file).length)
      guard missing > 0 else { return true }
      var wish = fstore_t(
        fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: off_t(missing),
        fst_bytesalloc: 0)
      return try Self.unlessUnsupported { () throws(FileFailure) in
        _ = try Self.result(.reserve) { fcntl(file, F_PREALLOCATE, &wish) }
      }
    }

    package func renameExclusively(_ path: String, to other: String) throws(FileFailure) {
      do {
        _ = try Self.result(.rename, path) { renamex_np(path, other, UInt32(RENAME_EXCL)) }
      } catch {
        guard Self.isUnsupported(error.code) else { throw error }
        try renameByLink(path, to: other)
      }
    }
  #else
    /// The times are not needed, so this spares a write of the file's own block; its length is written.
    package func synchronize(_ file: Int32) throws(FileFailure) {
      _ = try Self.result(.synchronize) { fdatasync(file) }
    }

    /// Not `posix_fallocate`: that lengthens the file, and writes every block where the file system cannot do it.
    package func reserve(_ file: Int32, length: Int64) throws(FileFailure) -> Bool {
      guard length > 0 else { return true }
      return try Self.unlessUnsupported { () throws(FileFailure) in
        _ = try Self.result(.reserve) { errand_reserve(file, length) }
      }
    }

    package func renameExclusively(_ path: String, to other: String) throws(FileFailure) {
      do {
        _ = try Self.result(.rename, path) { errand_rename_exclusively(path, other) }
      } catch {
        guard Self.isUnsupported(error.code) else { throw error }
        try renameByLink(path, to: other)
      }
    }
  #endif

  /// A second name, which is refused where it is taken; then the first one goes. A crash between leaves both names.
  func renameByLink(_ path: String, to other: String) throws(FileFailure) {
    _ = try Self.result(.rename, path) { link(path, other) }
    try remove(path)
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
