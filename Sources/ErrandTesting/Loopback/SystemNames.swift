// What Glibc and Darwin call differently. Names only: nothing here decides anything.

#if canImport(Glibc)
  import Glibc

  /// The type of a TCP socket.
  let streamSocketType = Int32(SOCK_STREAM.rawValue)
  /// Flags for `send` that keep a departed peer from raising SIGPIPE.
  let quietSendFlags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
  /// Flags for `recv` that never wait.
  let quietReceiveFlags = Int32(MSG_DONTWAIT)
  /// The socket option that keeps a departed peer from raising SIGPIPE, where there is one.
  let noSignalOption: Int32? = nil
  /// The `poll` event that says that the peer has closed its sending side.
  let peerClosedEvent = Int16(0x2000)
#elseif canImport(Darwin)
  import Darwin

  /// The type of a TCP socket.
  let streamSocketType = SOCK_STREAM
  /// Flags for `send` that never wait.
  let quietSendFlags = MSG_DONTWAIT
  /// Flags for `recv` that never wait.
  let quietReceiveFlags = MSG_DONTWAIT
  /// The socket option that keeps a departed peer from raising SIGPIPE, where there is one.
  let noSignalOption: Int32? = SO_NOSIGPIPE
  /// The `poll` event that says that the peer has closed its sending side: POLLHUP comes unasked.
  let peerClosedEvent = Int16(0)
#endif
