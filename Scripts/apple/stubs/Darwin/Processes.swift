public import DarwinTypes

// The calls of Darwin about processes, threads, signals, terminals and memory that the sources use.

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/exit.3.html
public func exit(_ status: Int32) -> Never { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/_exit.2.html
public func _exit(_ status: Int32) -> Never { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getuid.2.html
@discardableResult public func geteuid() -> uid_t { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/usleep.3.html
@discardableResult public func usleep(_ microseconds: useconds_t) -> Int32 { fatalError() }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/signal.3.html
public let SIGHUP: Int32 = 1, SIGINT: Int32 = 2, SIGKILL: Int32 = 9, SIGPIPE: Int32 = 13, SIGTERM: Int32 = 15,
  SIGXFSZ: Int32 = 25
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/signal.3.html
public var SIG_DFL: sig_t? { nil }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/signal.3.html
public var SIG_IGN: sig_t { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/sigprocmask.2.html
public let SIG_BLOCK: Int32 = 1, SIG_UNBLOCK: Int32 = 2, SIG_SETMASK: Int32 = 3
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/signal.3.html
@discardableResult public func signal(_ number: Int32, _ handler: sig_t!) -> sig_t! { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/sigaction.2.html
@discardableResult
public func sigaction(
  _ number: Int32, _ new: UnsafePointer<sigaction>!, _ old: UnsafeMutablePointer<sigaction>!
) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/kill.2.html
@discardableResult public func kill(_ process: pid_t, _ signal: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/raise.3.html
@discardableResult public func raise(_ signal: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/sigsetops.3.html
@discardableResult public func sigemptyset(_ set: UnsafeMutablePointer<sigset_t>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/sigsetops.3.html
@discardableResult
public func sigaddset(_ set: UnsafeMutablePointer<sigset_t>!, _ signal: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/sigsetops.3.html
@discardableResult
public func sigismember(_ set: UnsafePointer<sigset_t>!, _ signal: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/sigpending.2.html
@discardableResult public func sigpending(_ set: UnsafeMutablePointer<sigset_t>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/sigwait.2.html
@discardableResult
public func sigwait(_ set: UnsafePointer<sigset_t>!, _ signal: UnsafeMutablePointer<Int32>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/pthread_sigmask.2.html
@discardableResult
public func pthread_sigmask(
  _ how: Int32, _ set: UnsafePointer<sigset_t>!, _ old: UnsafeMutablePointer<sigset_t>!
) -> Int32 { fatalError() }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_create.3.html
@discardableResult
public func pthread_create(
  _ thread: UnsafeMutablePointer<pthread_t?>!, _ attributes: UnsafePointer<pthread_attr_t>?,
  _ start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ argument: UnsafeMutableRawPointer?
) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_detach.3.html
@discardableResult public func pthread_detach(_ thread: pthread_t) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_self.3.html
@discardableResult public func pthread_self() -> pthread_t { fatalError() }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/ttyname.3.html
@discardableResult public func isatty(_ descriptor: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/tty.4.html
public var TIOCGWINSZ: UInt { 0x4008_7468 }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/ioctl.2.html
public func ioctl(_ descriptor: Int32, _ request: UInt, _ pointer: UnsafeMutableRawPointer) -> Int32 { fatalError() }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/malloc.3.html
public func malloc(_ size: Int) -> UnsafeMutableRawPointer! { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/malloc.3.html
public func free(_ memory: UnsafeMutableRawPointer!) { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/memchr.3.html
@discardableResult
public func memchr(_ memory: UnsafeRawPointer!, _ byte: Int32, _ count: Int) -> UnsafeMutableRawPointer! {
  fatalError()
}
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/memcmp.3.html
@discardableResult
public func memcmp(_ memory: UnsafeRawPointer!, _ other: UnsafeRawPointer!, _ count: Int) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/strerror.3.html
@discardableResult public func strerror(_ code: Int32) -> UnsafeMutablePointer<CChar>! { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/exp.3.html
public func exp(_ value: Double) -> Double { fatalError() }
