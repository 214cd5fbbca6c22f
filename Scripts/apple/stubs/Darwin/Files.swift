@_exported public import DarwinTypes

// The calls of Darwin about files that the sources use, as Swift imports them. No code of a stub ever runs.

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/intro.2.html
public var errno: Int32 {
  get { fatalError() }
  set { fatalError() }
}
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/intro.2.html
public let EPERM: Int32 = 1, ENOENT: Int32 = 2, EINTR: Int32 = 4, EIO: Int32 = 5, ENXIO: Int32 = 6, EACCES: Int32 = 13,
  EBUSY: Int32 = 16, EEXIST: Int32 = 17, EXDEV: Int32 = 18, ENODEV: Int32 = 19, ENOTDIR: Int32 = 20, EISDIR: Int32 = 21,
  EINVAL: Int32 = 22, ETXTBSY: Int32 = 26, EFBIG: Int32 = 27, ENOSPC: Int32 = 28, EROFS: Int32 = 30, EPIPE: Int32 = 32,
  EAGAIN: Int32 = 35, EWOULDBLOCK: Int32 = 35, ENOTSUP: Int32 = 45, ELOOP: Int32 = 62, ENAMETOOLONG: Int32 = 63,
  ENOTEMPTY: Int32 = 66, EDQUOT: Int32 = 69, ENOSYS: Int32 = 78, EOPNOTSUPP: Int32 = 102

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/open.2.html
public let O_RDONLY: Int32 = 0, O_WRONLY: Int32 = 1, O_RDWR: Int32 = 2, O_NONBLOCK: Int32 = 4,
  O_NOFOLLOW: Int32 = 0x100,
  O_APPEND: Int32 = 0x8, O_CREAT: Int32 = 0x200, O_EXCL: Int32 = 0x800, O_DIRECTORY: Int32 = 0x10_0000,
  O_CLOEXEC: Int32 = 0x100_0000
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/open.2.html
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/open.2.html
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/intro.2.html
public let PATH_MAX: Int32 = 1024
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/realpath.3.html
public func realpath(
  _ path: UnsafePointer<CChar>!, _ buffer: UnsafeMutablePointer<CChar>!
) -> UnsafeMutablePointer<CChar>! { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/readlink.2.html
@discardableResult
public func readlink(
  _ path: UnsafePointer<CChar>!, _ buffer: UnsafeMutablePointer<CChar>!, _ count: Int
) -> Int { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/close.2.html
@discardableResult public func close(_ descriptor: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/read.2.html
@discardableResult
public func read(_ file: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int) -> Int { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/read.2.html
@discardableResult
public func pread(_ file: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int, _ offset: off_t) -> Int {
  fatalError()
}
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/write.2.html
@discardableResult
public func write(_ file: Int32, _ buffer: UnsafeRawPointer!, _ count: Int) -> Int { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/write.2.html
@discardableResult
public func pwrite(_ file: Int32, _ buffer: UnsafeRawPointer!, _ count: Int, _ offset: off_t) -> Int { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/truncate.2.html
@discardableResult public func ftruncate(_ file: Int32, _ length: off_t) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fsync.2.html
@discardableResult public func fsync(_ file: Int32) -> Int32 { fatalError() }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html
public let F_GETFD: Int32 = 1, F_SETFD: Int32 = 2, F_GETFL: Int32 = 3, F_SETFL: Int32 = 4, F_PREALLOCATE: Int32 = 42,
  F_FULLFSYNC: Int32 = 51, FD_CLOEXEC: Int32 = 1, F_ALLOCATEALL: Int32 = 4, F_PEOFPOSMODE: Int32 = 3
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html
public func fcntl(_ file: Int32, _ command: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html
public func fcntl(_ file: Int32, _ command: Int32, _ value: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html
public func fcntl(_ file: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/flock.2.html
public let LOCK_SH: Int32 = 1, LOCK_EX: Int32 = 2, LOCK_NB: Int32 = 4, LOCK_UN: Int32 = 8
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/flock.2.html
@discardableResult public func flock(_ file: Int32, _ operation: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getrlimit.2.html
public let RLIMIT_FSIZE: Int32 = 1
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getrlimit.2.html
public func getrlimit(_ resource: Int32, _ limits: UnsafeMutablePointer<rlimit>) -> Int32 { fatalError() }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
public let S_IFMT: mode_t = 0o170000, S_IFDIR: mode_t = 0o040000, S_IFREG: mode_t = 0o100000,
  S_IFLNK: mode_t = 0o120000, S_ISVTX: mode_t = 0o001000
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
@discardableResult
public func stat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
@discardableResult
public func lstat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
@discardableResult public func fstat(_ file: Int32, _ status: UnsafeMutablePointer<stat>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/statvfs.3.html
@discardableResult
public func statvfs(_ path: UnsafePointer<CChar>!, _ space: UnsafeMutablePointer<statvfs>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/access.2.html
public let X_OK: Int32 = 1, W_OK: Int32 = 2, R_OK: Int32 = 4
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/access.2.html
@discardableResult public func access(_ path: UnsafePointer<CChar>!, _ mode: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/chmod.2.html
@discardableResult public func chmod(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/chmod.2.html
@discardableResult public func fchmod(_ file: Int32, _ mode: mode_t) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/umask.2.html
@discardableResult public func umask(_ mode: mode_t) -> mode_t { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/link.2.html
@discardableResult
public func link(_ path: UnsafePointer<CChar>!, _ other: UnsafePointer<CChar>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/unlink.2.html
@discardableResult public func unlink(_ path: UnsafePointer<CChar>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/rename.2.html
@discardableResult
public func rename(_ path: UnsafePointer<CChar>!, _ other: UnsafePointer<CChar>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/rename.2.html
/// The archived page is older than this declaration; the manual of macOS 10.12 has it.
public let RENAME_EXCL: Int32 = 4
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/rename.2.html
/// The archived page is older than this declaration; the manual of macOS 10.12 has it.
@discardableResult
public func renamex_np(_ path: UnsafePointer<CChar>!, _ other: UnsafePointer<CChar>!, _ flags: UInt32) -> Int32 {
  fatalError()
}
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/mkdir.2.html
@discardableResult public func mkdir(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/opendir.3.html
public func opendir(_ path: UnsafePointer<CChar>!) -> UnsafeMutablePointer<DIR>! { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/readdir.3.html
@discardableResult
public func readdir(_ folder: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/closedir.3.html
@discardableResult public func closedir(_ folder: UnsafeMutablePointer<DIR>!) -> Int32 { fatalError() }
