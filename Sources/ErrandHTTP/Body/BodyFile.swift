import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that is open for reading; `deinit` closes it.
package final class BodyFile {
  /// Identifies a version of a file. Two different stamps mean that the file was changed or replaced.
  package struct Stamp: Sendable, Equatable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int64
    package let seconds: Int64
    package let nanoseconds: Int64
  }

  /// The error that is thrown if a file cannot be opened or read, or is not a regular file.
  package struct Failure: Error, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var description: String { "the file \(path) cannot be read: \(reason)" }
  }

  private let descriptor: Int32
  private let path: String

  /// Opens the file at `path` for reading. Does not block if `path` is a named pipe: ``stamp()`` rejects such a file
  /// later.
  package init(_ path: String) throws(Failure) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Self.failure(path) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads the ``Stamp`` that identifies the current version of the file. Throws if the file is not a regular file.
  package func stamp() throws(Failure) -> Stamp {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw Self.failure(path) }
    guard info.st_mode & S_IFMT == S_IFREG else {
      let isFolder = info.st_mode & S_IFMT == S_IFDIR
      throw Failure(
        path: path, reason: isFolder ? "it is a directory" : "it is not a regular file; use a stream instead")
    }
    #if canImport(Darwin)
      let time = info.st_mtimespec
    #else
      let time = info.st_mtim
    #endif
    return Stamp(
      device: UInt64(truncatingIfNeeded: info.st_dev), inode: UInt64(info.st_ino), size: Int64(info.st_size),
      seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
  }

  /// Reads bytes at `offset` into `buffer`. Returns the number of bytes; zero means the end of the file.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      if count >= 0 { return count }
      if errno != EINTR { throw Self.failure(path) }
    }
  }

  private static func failure(_ path: String) -> Failure {
    Failure(path: path, reason: String(cString: strerror(errno)))
  }
}
