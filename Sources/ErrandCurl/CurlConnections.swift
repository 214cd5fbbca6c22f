#if os(Linux)
  import CErrandCurl
  import ErrandHTTP
  import Glibc

  /// An open socket of libcurl, and the facts that the transport records about the connection.
  final class CurlConnection {
    let socket: Int32
    /// The numeric remote address. Empty until the first request is sent over the connection.
    fileprivate(set) var address = ""
    /// The remote port. Zero until the first request is sent over the connection.
    fileprivate(set) var port: Int32 = 0
    /// The number of requests that were sent over the connection.
    var requests = 0
    /// The number of transfers that use the connection now.
    private var transfers = 0
    /// Follows the connection for the transfer that opened it. Nil if the connection is not observed.
    private var observer: (any ConnectionObserver)?
    /// Whether a response has shown that the connection uses HTTP/1. The server must then not send bytes without a
    /// request.
    var speaksHTTP1 = false
    /// The last stream that the server processes, from its GOAWAY frame (RFC 9113 section 6.8). Nil if the server has
    /// sent no such frame.
    var lastStream: UInt32?
    /// The number of received bytes that libcurl has passed to transfers, including framing.
    var received: Int64 = 0

    /// Whether libcurl still has the connection open.
    private(set) var isOpen = true
    /// Whether the server has closed the connection, and all received bytes were read.
    var hasEnded: Bool { isOpen && errand_socket_has_ended(socket) }

    /// Whether unread bytes, the end of the stream or an error is available on the socket.
    var hasUnread: Bool { errand_socket_has_unread(socket) }

    /// Whether the system has received more bytes on the socket than libcurl has passed to transfers.
    var holdsMoreThanReceived: Bool { errand_socket_received(socket) > received }

    /// Whether an upload uses the connection. If so, the unread bytes are kept when the connection is closed, because
    /// they may be a response that arrived while libcurl failed to send the request.
    var keepsUnreadBytes = false
    /// The bytes that were unread when the connection was closed; empty unless an upload used the connection.
    private(set) var unreadBytes: [UInt8] = []

    fileprivate init(socket: Int32) { self.socket = socket }

    /// Records that a transfer uses the connection.
    func join(_ transfer: CurlTransfer) {
      if requests == 0, observer == nil { observer = transfer.exchange.handling.observer?.connected() }
      transfers += 1
      if isOpen { observer?.changed(to: .active) }
    }

    /// Records that a transfer no longer uses the connection.
    func leave() {
      transfers -= 1
      if transfers == 0, isOpen { observer?.changed(to: .idle) }
    }

    /// Records that libcurl closes the connection.
    fileprivate func close() {
      isOpen = false
      observer?.changed(to: .closed)
      observer = nil
    }

    /// Reads and keeps the unread bytes before the socket is closed.
    fileprivate func keepUnreadBytes() {
      guard keepsUnreadBytes else { return }
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      while unreadBytes.count < Self.mostUnreadBytes {
        let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { break }
        unreadBytes += buffer[..<count]
      }
    }

    private static let mostUnreadBytes = 1 << 20
  }

  /// The open connections, identified by the addresses and ports of both ends. Only the loop's thread uses this table.
  final class CurlConnections {
    private struct Entry {
      var localPort: Int32 = 0
      var local = ""
      let connection: CurlConnection
    }

    private var entries: [Entry] = []
    private let watchdog: CurlWatchdog?

    init(watchdog: CurlWatchdog? = nil) { self.watchdog = watchdog }

    var count: Int { entries.count }

    @discardableResult
    func opened(_ socket: Int32) -> CurlConnection {
      let connection = CurlConnection(socket: socket)
      entries.append(Entry(connection: connection))
      watchdog?.opened(socket)
      return connection
    }

    func closed(_ socket: Int32) {
      watchdog?.closed(socket)
      guard let index = entries.firstIndex(where: { $0.connection.socket == socket }) else { return }
      entries[index].connection.keepUnreadBytes()
      entries[index].connection.close()
      entries.swapAt(index, entries.count - 1)
      entries.removeLast()
    }

    /// Returns the open connection between two addresses. The first lookup of a connection asks the system for the
    /// addresses of the sockets. Later lookups use the table.
    func find(
      local: UnsafePointer<CChar>, localPort: Int32, remote: UnsafePointer<CChar>, remotePort: Int32
    ) -> CurlConnection? {
      for index in entries.indices where entries[index].localPort == localPort {
        let entry = entries[index]
        if entry.connection.port == remotePort, entry.connection.address == String(cString: remote),
          entry.local == String(cString: local)
        {
          return entry.connection
        }
      }
      for index in entries.indices where entries[index].localPort == 0 {
        let connection = entries[index].connection
        guard errand_socket_is_between(connection.socket, local, localPort, remote, remotePort) else { continue }
        connection.address = String(cString: remote)
        connection.port = remotePort
        entries[index].local = String(cString: local)
        entries[index].localPort = localPort
        return connection
      }
      return nil
    }
  }
#endif
