#if os(Linux)
  import CErrandCurl
  import ErrandHTTP
  import Glibc

  /// One socket that libcurl has open for this transport.
  final class CurlConnection {
    let socket: Int32
    /// The address at the other end.
    fileprivate(set) var address = ""
    /// How many requests went over it.
    var requests = 0
    /// Whether an answer showed that it speaks HTTP/1, so that nothing may come unasked.
    var speaksHTTP1 = false
    /// The last stream that the server answers, once it has said that it retires the connection.
    var lastStream: UInt32?
    /// The bytes of answers that libcurl has handed over, framing included.
    var received: Int64 = 0

    /// Whether libcurl has it still open.
    fileprivate(set) var isOpen = true
    /// Whether the other end has ended it, and nothing waits to be read.
    var hasEnded: Bool { isOpen && errand_socket_has_ended(socket) }

    /// Whether bytes, an end or an error wait to be read.
    var hasUnread: Bool { errand_socket_has_unread(socket) }

    /// Whether the system received more than libcurl has handed over.
    var holdsMoreThanReceived: Bool { errand_socket_received(socket) > received }

    /// Whether an upload runs over it, whose answer may lie in the system when libcurl gives up.
    var keepsLastWords = false
    /// What lay there unread when it was closed.
    private(set) var lastWords: [UInt8] = []

    fileprivate init(socket: Int32) { self.socket = socket }

    /// Called before it is closed.
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

  /// The open sockets, found by the addresses and ports at their ends. Only the loop's thread touches it.
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

    /// The socket between two ends. The first time it is asked for, the system is asked; later the table knows.
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
