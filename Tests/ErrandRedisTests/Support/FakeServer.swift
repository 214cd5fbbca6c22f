import Foundation

/// A TCP server that is not a Redis. It sends the same bytes to every client, or nothing at all.
final class FakeServer: Sendable {
  private let listener: ListeningSocket
  /// Whether a thread accepts connections. That thread then closes the socket.
  private let isServing: Bool

  var port: Int { listener.port }

  /// - Parameter words: The bytes to send to every client after its first bytes, before the connection is closed; nil
  ///   for a server that never accepts a connection.
  init?(saying words: [UInt8]? = nil) {
    guard let listener = ListeningSocket() else { return nil }
    self.listener = listener
    isServing = words != nil
    guard let words else { return }
    listener.serve { connection in
      var heard = [UInt8](repeating: 0, count: 65_536)
      guard recv(connection, &heard, heard.count, 0) > 0 else { return }
      _ = send(connection, words, words.count, ListeningSocket.noSignal)
    }
  }

  deinit {
    listener.stop()
    if !isServing { close(listener.descriptor) }
  }
}
