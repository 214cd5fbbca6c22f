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

  /// Why a file cannot be read.
  package struct Failure: Error, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var description: String { "the file \(path) cannot be read: \(reason)" }
  }

  private let descriptor: Int32
  private let path: String

  /// Opens a regular file. Does not block if the path is a named pipe.
  package init(_ path: String) throws(Failure) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Self.failure(path) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The file's current stamp.
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

  /// Reads bytes at an offset and returns their number; zero at the end of the file.
  package func read(into room: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
    while true {
      let count = pread(descriptor, room.baseAddress, room.count, off_t(offset))
      if count >= 0 { return count }
      if errno != EINTR { throw Self.failure(path) }
    }
  }

  private static func failure(_ path: String) -> Failure {
    Failure(path: path, reason: String(cString: strerror(errno)))
  }
}
