#if os(Linux)
  import CErrandCurl
  import ErrandHTTP
  import Glibc

  /// One open socket of libcurl for this transport.
  final class CurlConnection {
    let socket: Int32
    /// The remote address.
    fileprivate(set) var address = ""
    /// The number of requests that were sent over the connection.
    var requests = 0
    /// Whether a response has shown that the connection uses HTTP/1. The server must then not send bytes without a
    /// request.
    var speaksHTTP1 = false
    /// The last stream that the server processes, from its GOAWAY frame (RFC 9113 section 6.8); nil if it has sent
    /// none.
    var lastStream: UInt32?
    /// The response bytes that libcurl has passed on, including framing.
    var received: Int64 = 0

    /// Whether libcurl still has the connection open.
    fileprivate(set) var isOpen = true
    /// Whether the server has closed the connection, and no bytes are unread.
    var hasEnded: Bool { isOpen && errand_socket_has_ended(socket) }

    /// Whether bytes, an end or an error are unread.
    var hasUnread: Bool { errand_socket_has_unread(socket) }

    /// Whether the system has received more bytes than libcurl has passed on.
    var holdsMoreThanReceived: Bool { errand_socket_received(socket) > received }

    /// Whether an upload uses the connection. If so, its unread bytes are kept when it is closed: they may be a
    /// response that arrived while libcurl failed to send.
    var keepsLastWords = false
    /// The bytes that were unread when the connection was closed; empty unless an upload used the connection.
    private(set) var lastWords: [UInt8] = []

    fileprivate init(socket: Int32) { self.socket = socket }

    /// Reads the unread bytes, before the socket is closed.
    fileprivate func keepLastWords() {
      guard keepsLastWords else { return }
      var room = [UInt8](repeating: 0, count: 16 << 10)
      while lastWords.count < Self.mostLastWords {
        let count = recv(socket, &room, room.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { break }
        lastWords += room[..<count]
      }
    }

    private static let mostLastWords = 1 << 20
  }

  /// The open sockets, identified by the addresses and ports of both ends. Only the loop's thread uses it.
  final class CurlConnections {
    private struct Entry {
      var localPort: Int32 = 0
      var remotePort: Int32 = 0
      var local = ""
      let connection: CurlConnection
    }

    private var entries: [Entry] = []
    private let watchdog: CurlWatchdog?

    init(watchdog: CurlWatchdog? = nil) { self.watchdog = watchdog }

    /// The number of open sockets.
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
      entries[index].connection.keepLastWords()
      entries[index].connection.isOpen = false
      entries.swapAt(index, entries.count - 1)
      entries.removeLast()
    }

    /// The socket between two ends. The first lookup asks the system; later ones use the table.
    func find(
      local: UnsafePointer<CChar>, localPort: Int32, remote: UnsafePointer<CChar>, remotePort: Int32
    ) -> CurlConnection? {
      for index in entries.indices where entries[index].localPort == localPort {
        let entry = entries[index]
        if entry.remotePort == remotePort, entry.connection.address == String(cString: remote),
          entry.local == String(cString: local)
        {
          return entry.connection
        }
      }
      for index in entries.indices where entries[index].localPort == 0 {
        let connection = entries[index].connection
        guard errand_socket_is_between(connection.socket, local, localPort, remote, remotePort) else { continue }
        connection.address = String(cString: remote)
        entries[index].local = String(cString: local)
        entries[index].localPort = localPort
        entries[index].remotePort = remotePort
        return connection
      }
      return nil
    }
  }
#endif
