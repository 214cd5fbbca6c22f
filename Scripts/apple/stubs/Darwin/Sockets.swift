public import DarwinTypes

// The calls of Darwin about sockets that the sources use, as Swift imports them.

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/socket.2.html
public let AF_INET: Int32 = 2, AF_INET6: Int32 = 30, SOCK_STREAM: Int32 = 1
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getsockopt.2.html
public let SOL_SOCKET: Int32 = 0xFFFF, SO_LINGER: Int32 = 0x80, SO_SNDBUF: Int32 = 0x1001, SO_NOSIGPIPE: Int32 = 0x1022
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/tcp.4.html
public let IPPROTO_TCP: Int32 = 6, TCP_NODELAY: Int32 = 1
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/recv.2.html
public let MSG_DONTWAIT: Int32 = 0x80
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/shutdown.2.html
public let SHUT_WR: Int32 = 1
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/poll.2.html
public let POLLIN: Int32 = 1, POLLOUT: Int32 = 4
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/inet6.4.html
public let in6addr_loopback = in6_addr()

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/pipe.2.html
@discardableResult public func pipe(_ descriptors: UnsafeMutablePointer<Int32>!) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/poll.2.html
@discardableResult
public func poll(_ entries: UnsafeMutablePointer<pollfd>!, _ count: nfds_t, _ timeout: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/socket.2.html
@discardableResult public func socket(_ domain: Int32, _ type: Int32, _ protocol: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/bind.2.html
@discardableResult
public func bind(_ socket: Int32, _ address: UnsafePointer<sockaddr>!, _ length: socklen_t) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getsockname.2.html
@discardableResult
public func getsockname(
  _ socket: Int32, _ address: UnsafeMutablePointer<sockaddr>!, _ length: UnsafeMutablePointer<socklen_t>!
) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/listen.2.html
@discardableResult public func listen(_ socket: Int32, _ backlog: Int32) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/accept.2.html
@discardableResult
public func accept(
  _ socket: Int32, _ address: UnsafeMutablePointer<sockaddr>!, _ length: UnsafeMutablePointer<socklen_t>!
) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getsockopt.2.html
@discardableResult
public func setsockopt(
  _ socket: Int32, _ level: Int32, _ option: Int32, _ value: UnsafeRawPointer!, _ length: socklen_t
) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/recv.2.html
@discardableResult
public func recv(_ socket: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int, _ flags: Int32) -> Int {
  fatalError()
}
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/send.2.html
@discardableResult
public func send(_ socket: Int32, _ buffer: UnsafeRawPointer!, _ count: Int, _ flags: Int32) -> Int { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/shutdown.2.html
@discardableResult public func shutdown(_ socket: Int32, _ how: Int32) -> Int32 { fatalError() }

/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/inet_ntop.3.html
public let INET6_ADDRSTRLEN: Int32 = 46
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/inet_ntop.3.html
public func inet_pton(
  _ family: Int32, _ text: UnsafePointer<CChar>!, _ address: UnsafeMutableRawPointer!
) -> Int32 { fatalError() }
/// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/inet_ntop.3.html
public func inet_ntop(
  _ family: Int32, _ address: UnsafeRawPointer!, _ text: UnsafeMutablePointer<CChar>!, _ size: socklen_t
) -> UnsafePointer<CChar>! { fatalError() }
