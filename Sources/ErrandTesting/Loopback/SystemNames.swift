// System constants whose names differ between Glibc and Darwin.

#if canImport(Glibc)
  import Glibc

  /// The type of a TCP socket.
  let streamSocketType = Int32(SOCK_STREAM.rawValue)
  /// Flags for `send`: the call does not block, and there is no SIGPIPE if the peer has closed the connection.
  let quietSendFlags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
  /// Flags for `recv`: the call does not block.
  let quietReceiveFlags = Int32(MSG_DONTWAIT)
  /// The socket option that prevents SIGPIPE if the peer has closed the connection; nil if the system has no such
  /// option.
  let noSignalOption: Int32? = nil
  /// The `poll` event that reports a peer that has closed its sending side: the value of `POLLRDHUP` on Linux.
  let peerClosedEvent = Int16(0x2000)
#elseif canImport(Darwin)
  import Darwin

  /// The type of a TCP socket.
  let streamSocketType = SOCK_STREAM
  /// Flags for `send`: the call does not block.
  let quietSendFlags = MSG_DONTWAIT
  /// Flags for `recv`: the call does not block.
  let quietReceiveFlags = MSG_DONTWAIT
  /// The socket option that prevents SIGPIPE if the peer has closed the connection; nil if the system has no such
  /// option.
  let noSignalOption: Int32? = SO_NOSIGPIPE
  /// The `poll` event that reports a peer that has closed its sending side. `poll` always reports POLLHUP, so no flag
  /// is needed.
  let peerClosedEvent = Int16(0)
#endif
