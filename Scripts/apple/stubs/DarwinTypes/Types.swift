// The C types of Darwin that the sources use, as Swift imports them. They are in a module of their own, because a
// module cannot declare a structure and a function with one name, such as `stat`.

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/lseek.2.html
public typealias off_t = Int64
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/chmod.2.html
public typealias mode_t = UInt16
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getpid.2.html
public typealias pid_t = Int32
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getuid.2.html
public typealias uid_t = UInt32
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/bind.2.html
public typealias socklen_t = UInt32
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/socket.2.html
public typealias sa_family_t = UInt8
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/poll.2.html
public typealias nfds_t = UInt32
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/usleep.3.html
public typealias useconds_t = UInt32
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/sigaction.2.html
public typealias sigset_t = UInt32
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/signal.3.html
public typealias sig_t = @convention(c) (Int32) -> Void

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_create.3.html
public struct _opaque_pthread_t { public init() {} }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_create.3.html
public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_attr_init.3.html
public struct pthread_attr_t { public init() {} }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
public struct timespec: Sendable {
  public var tv_sec = 0
  public var tv_nsec = 0
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
public struct stat: Sendable {
  public var st_dev: Int32 = 0
  public var st_mode: mode_t = 0
  public var st_nlink: UInt16 = 0
  public var st_ino: UInt64 = 0
  public var st_uid: uid_t = 0
  public var st_gid: UInt32 = 0
  public var st_mtimespec = timespec()
  public var st_ctimespec = timespec()
  public var st_size: off_t = 0
  public var st_blocks: Int64 = 0
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getrlimit.2.html
public typealias rlim_t = UInt64
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getrlimit.2.html
public struct rlimit: Sendable {
  public var rlim_cur: rlim_t = 0
  public var rlim_max: rlim_t = 0
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/statvfs.3.html
public struct statvfs: Sendable {
  public var f_frsize: UInt = 0
  public var f_blocks: UInt32 = 0
  public var f_bavail: UInt32 = 0
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html
public struct fstore_t: Sendable {
  public var fst_flags: UInt32
  public var fst_posmode: Int32
  public var fst_offset: off_t
  public var fst_length: off_t
  public var fst_bytesalloc: off_t
  public init(fst_flags: UInt32, fst_posmode: Int32, fst_offset: off_t, fst_length: off_t, fst_bytesalloc: off_t) {
    fatalError()
  }
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/opendir.3.html
public struct DIR { public init() {} }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man5/dir.5.html
public struct dirent {
  /// The SDK imports an array of 1,024 characters as a tuple.
  public var d_name: (CChar, CChar, CChar, CChar) = (0, 0, 0, 0)
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/poll.2.html
public struct pollfd: Sendable {
  public var fd: Int32
  public var events: Int16
  public var revents: Int16
  public init(fd: Int32, events: Int16, revents: Int16) { fatalError() }
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getsockopt.2.html
public struct linger: Sendable {
  public var l_onoff: Int32
  public var l_linger: Int32
  public init(l_onoff: Int32, l_linger: Int32) { fatalError() }
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/bind.2.html
public struct sockaddr: Sendable { public init() {} }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/inet.4.html
public struct in_addr: Sendable {
  public var s_addr: UInt32 = 0
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/inet.4.html
public struct sockaddr_in: Sendable {
  public var sin_len: UInt8 = 0
  public var sin_family: sa_family_t = 0
  public var sin_port: UInt16 = 0
  public var sin_addr = in_addr()
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/inet6.4.html
public struct in6_addr: Sendable { public init() {} }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/inet6.4.html
public struct sockaddr_in6: Sendable {
  public var sin6_len: UInt8 = 0
  public var sin6_family: sa_family_t = 0
  public var sin6_port: UInt16 = 0
  public var sin6_addr = in6_addr()
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/tty.4.html
public struct winsize: Sendable {
  public var ws_row: UInt16 = 0
  public var ws_col: UInt16 = 0
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/sigaction.2.html
public struct __sigaction_u {
  public var __sa_handler: sig_t!
  public init() {}
}

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/sigaction.2.html
public struct sigaction {
  public var __sigaction_u = DarwinTypes.__sigaction_u()
  public var sa_mask: sigset_t = 0
  public var sa_flags: Int32 = 0
  public init() {}
}
