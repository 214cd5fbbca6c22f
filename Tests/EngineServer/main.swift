// A server for ErrandEngineTests: one thread for any number of connections, in a process with descriptors of its own.
//
//     EngineServer hold COUNT     answers once COUNT requests wait, all of them at once
//     EngineServer rude EVERY     closes a connection silently behind every EVERY-th response
//
// It prints its port, and when its input ends, how many requests came and how many of them came twice: requests are
// told apart by method and target.
#if os(Linux)
  import Foundation
  import Glibc

  /// What came on one connection so far.
  struct Peer {
    var bytes: [UInt8] = []
    var answered = 0
  }

  /// Serves until the input ends.
  struct Server {
    private let listener: Int32
    private let holds: Int
    private let closesAfter: Int
    private var peers: [Int32: Peer] = [:]
    private var seen: [String: Int] = [:]
    private var waiting: [Int32] = []
    private var closings = 0

    init(holds: Int, closesAfter: Int) {
      self.holds = holds
      self.closesAfter = closesAfter
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, size) == 0 && listen(listener, 4096) == 0 && getsockname(listener, $0, &size) == 0
        }
      }
      guard isBound else { exit(1) }
      print(UInt16(bigEndian: address.sin_port))
      fflush(nil)
    }

    mutating func run() {
      while true {
        var polled = [
          pollfd(fd: 0, events: Int16(POLLIN), revents: 0), pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
        ]
        polled += peers.keys.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
        if polled[0].revents != 0 { break }
        if polled[1].revents != 0 { acceptAll() }
        for peer in polled.dropFirst(2) where peer.revents != 0 { receive(peer.fd) }
      }
      print("\(seen.values.reduce(0, +)) \(seen.values.count { $0 > 1 })")
    }

    private mutating func acceptAll() {
      while true {
        let peer = accept(listener, nil, nil)
        guard peer >= 0 else { return }
        _ = fcntl(peer, F_SETFL, fcntl(peer, F_GETFL) | O_NONBLOCK)
        peers[peer] = Peer()
      }
    }

    private mutating func receive(_ descriptor: Int32) {
      var room = [UInt8](repeating: 0, count: 16 << 10)
      while true {
        let count = recv(descriptor, &room, room.count, 0)
        if count < 0, errno == EAGAIN { break }
        guard count > 0 else { return end(descriptor) }
        peers[descriptor]?.bytes += room[..<count]
      }
      while peers[descriptor] != nil, let request = takeRequest(descriptor) {
        seen[request, default: 0] += 1
        waiting.append(descriptor)
        if waiting.count >= holds { answerAll() }
      }
    }

    /// Takes a whole request out of what came. Returns its method and target.
    private mutating func takeRequest(_ descriptor: Int32) -> String? {
      guard let bytes = peers[descriptor]?.bytes, let end = bytes.firstRange(of: [13, 10, 13, 10]) else { return nil }
      let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      let lines = head.split(separator: "\r\n")
      let length =
        lines.first { $0.lowercased().hasPrefix("content-length:") }
        .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
      guard bytes.count >= end.upperBound + length else { return nil }
      peers[descriptor]?.bytes.removeFirst(end.upperBound + length)
      return lines.first.map(String.init)
    }

    private mutating func answerAll() {
      let answered = waiting
      waiting = []
      for descriptor in answered { answer(descriptor) }
    }

    private mutating func answer(_ descriptor: Int32) {
      let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      peers[descriptor]?.answered += 1
      let isLast = closesAfter > 0 && (peers[descriptor]?.answered ?? 0) >= closesAfter
      if isLast { closings += 1 }
      // The last response of three connections in four arrives in one packet with the end of the connection. The fourth
      // one arrives before the end, so that a client may send a request in between.
      let isOnePacket = isLast && !closings.isMultiple(of: 4)
      _ = send(descriptor, text, text.utf8.count, Int32(isOnePacket ? MSG_MORE | MSG_NOSIGNAL : MSG_NOSIGNAL))
      if isLast { end(descriptor) }
    }

    private mutating func end(_ descriptor: Int32) {
      close(descriptor)
      peers[descriptor] = nil
    }
  }

  let words = CommandLine.arguments
  let number = words.count == 3 ? Int(words[2]) ?? 1 : 1
  var server = Server(holds: words[1] == "hold" ? number : 1, closesAfter: words[1] == "rude" ? number : 0)
  server.run()
#endif
