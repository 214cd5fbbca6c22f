import CFuzzPeer
@testable import ErrandEngine
import ErrandHTTP
import ErrandTLS
import Foundation
import Glibc

/// A TLS session of the engine over a socket, and the server of it that a fuzz target plays. The server's records wait
/// in ``records``, where a target can change them before they are delivered.
final class TLSLink {
  /// The way in which the session has ended for the client.
  enum Ending: Equatable {
    case handshake
    case end(isCutOff: Bool)
    case failed(Int32)
  }

  /// The context of all sessions, which trusts the server's certificate.
  nonisolated(unsafe) static let context: TLSContext? = {  // libFuzzer calls on one thread only
    var pem = [CChar](repeating: 0, count: 4096)
    let size = fuzz_peer_certificate(&pem, pem.count)
    let data = pem.withUnsafeBytes { Data($0.prefix(size)) }
    guard
      let trust = try? TrustSettings(.certificates(data), pins: [], clientCertificates: [], policy: .any)
    else { return nil }
    return TLSContext(trust, certificate: nil, minimum: .tls1_2)
  }()

  private static let origin = try? HTTPURL("https://localhost").origin

  /// The server's records that were not delivered yet.
  var records: [[UInt8]] = []
  /// True if the client received other bytes than the server sent.
  var isChanged = false
  /// True if the server does not read from its socket, so that the client cannot send at some point.
  var isStalled = false
  /// The number of content bytes that the server has written, and that the client has received.
  private(set) var written = 0
  private(set) var received = 0
  /// The number of content bytes that the client still has to send, has sent, and that the server has received.
  private(set) var unsent = 0
  private(set) var sent = 0
  private(set) var receivedByServer = 0
  private(set) var isEstablished = false
  private(set) var ending: Ending?
  /// True if the server has announced its end, and true if its socket has ended.
  private(set) var saidEnd = false
  private(set) var hasEnded = false
  /// The number of delivered bytes.
  private var delivered = 0

  let peer: OpaquePointer
  let session: TLSSession
  // Allocated once; libFuzzer calls on one thread only.
  nonisolated(unsafe) private static let scratch = UnsafeMutableRawBufferPointer.allocate(
    byteCount: 64 << 10, alignment: 16)
  nonisolated(unsafe) private static let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: 64 << 10, alignment: 16)
  /// The memory into which the client receives.
  private let buffer: UnsafeMutableRawBufferPointer
  /// The size of the pieces in which bytes are delivered.
  private var piece = 64 << 10
  /// The number of bytes that still arrive in pieces of this size. Later pieces are larger, so that inputs are fast.
  private var finelySplit = 0
  private let client: Int32
  private var server: Int32

  /// Opens the sockets. Returns nil if the system has no resources.
  init?(_ settings: fuzz_peer_settings, buffer: Int) {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard let context = Self.context, let origin = Self.origin else { return nil }
    // An earlier input must not change the handshake of this one.
    context.removeSessions()
    guard socketpair(AF_UNIX, kind, 0, &pair) == 0, let peer = fuzz_peer_make(settings),
      let session = TLSSession(
        context, descriptor: pair[0], origin: origin, protocols: ["h2", "http/1.1"], at: .now)
    else { return nil }
    var size: Int32 = 8 << 10
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    (client, server) = (pair[0], pair[1])
    (self.peer, self.session) = (peer, session)
    self.buffer = UnsafeMutableRawBufferPointer(rebasing: Self.memory[..<buffer])
  }

  deinit {
    session.close()
    close(client)
    if server >= 0 { close(server) }
    fuzz_peer_free(peer)
  }

  /// The content that both sides send: the byte at each position.
  private static func content(at position: Int) -> UInt8 { UInt8(truncatingIfNeeded: position &* 167 ^ position >> 8) }

  /// The state of both sides, for the report of a finding.
  var summary: String {
    "\(ending.map { "\($0)" } ?? "open") \(session.failure.reason ?? "-"), content \(received) of \(written) to the "
      + "client, \(receivedByServer) of \(sent) and \(unsent) to the server"
  }

  // MARK: - The server

  /// Takes what the client has sent, and collects the records of the server's response.
  func takeServerTurn() {
    if !isStalled, server >= 0 { readSocket() }
    fuzz_peer_advance(peer)
    let bytes = Self.scratch
    while case let count = fuzz_peer_read(peer, bytes.baseAddress, bytes.count), count > 0 {
      for byte in bytes[..<count] {
        check(byte == Self.content(at: receivedByServer), "the server receives what the client sends")
        receivedByServer += 1
      }
      check(receivedByServer <= sent, "no byte of the client is made up: \(summary)")
    }
    collect()
  }

  private func readSocket() {
    let bytes = Self.scratch
    while case let count = recv(server, bytes.baseAddress, bytes.count, 0), count > 0 {
      fuzz_peer_take(peer, bytes.baseAddress, count)
    }
  }

  /// Splits the server's bytes into records.
  private func collect() {
    var bytes: [UInt8] = []
    while case let count = fuzz_peer_give(peer, Self.scratch.baseAddress, Self.scratch.count), count > 0 {
      bytes += Self.scratch[..<count]
    }
    var start = 0
    while start + 5 <= bytes.count {
      let end = min(start + 5 + Int(bytes[start + 3]) << 8 + Int(bytes[start + 4]), bytes.count)
      records.append(Array(bytes[start..<end]))
      start = end
    }
  }

  /// Lets the server write content.
  func write(_ count: Int) {
    guard !saidEnd else { return }
    let bytes = (written..<(written + count)).map(Self.content(at:))
    written += fuzz_peer_write(peer, bytes, bytes.count)
    collect()
  }

  /// Lets the server announce its end.
  func sayEnd() {
    if fuzz_peer_say_end(peer) { saidEnd = true }
    collect()
  }

  /// Ends the server's side of the socket.
  func end(isReset: Bool) {
    guard !hasEnded else { return }
    hasEnded = true
    if isReset {
      close(server)
      server = -1
    } else {
      shutdown(server, Int32(SHUT_WR))
    }
  }

  // MARK: - Delivering

  /// Delivers the next bytes in pieces of this size.
  func split(into size: Int) { (piece, finelySplit) = (size, 2048) }

  /// Delivers bytes to the client, in pieces.
  func deliver(_ bytes: [UInt8], withTurns: Bool = true) {
    var start = 0
    var refusals = 0
    while start < bytes.count, !hasEnded {
      let size = min(finelySplit > 0 ? piece : max(piece, 1024), bytes.count - start)
      let count = bytes.withUnsafeBytes {
        Glibc.send(server, $0.baseAddress.map { $0 + start }, size, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        finelySplit -= count
        start += count
        delivered += count
        refusals = 0
      } else {
        // The client may wait until it can send.
        refusals += 1
        isStalled = false
        takeServerTurn()
        if refusals > 2 {
          check(ending != nil, "the client takes all bytes")
          return isChanged = true
        }
      }
      if withTurns || count <= 0 { takeClientTurn() }
    }
    if start < bytes.count { isChanged = true }
  }

  /// Delivers the waiting records.
  func deliverAll(withTurns: Bool = true) {
    let bytes = records.flatMap { $0 }
    records = []
    deliver(bytes, withTurns: withTurns)
    if withTurns {
      takeClientTurn()
      takeServerTurn()
    }
  }

  // MARK: - The client

  /// Lets the client send content.
  func send(_ count: Int) {
    unsent = min(unsent + count, 64 << 10)
    takeClientTurn()
  }

  /// Continues the handshake, and then sends and receives, as the engine does after an event of the socket.
  func takeClientTurn() {
    if !isEstablished { shakeHands() }
    guard isEstablished else { return }
    sendContent()
    receiveContent()
    note()
  }

  private func shakeHands() {
    guard ending == nil else {
      check(session.handshake() != .done, "a failed handshake is never complete")
      return check(!isBytes(session.receive(into: buffer)), "a failed handshake delivers nothing")
    }
    switch session.handshake() {
    case .later: check(!hasEnded, "a handshake ends with its socket")
    case .done: isEstablished = true
    case .failed:
      ending = .handshake
      _ = session.failure.handshakeKind
      note()
    }
  }

  private func sendContent() {
    var steps = 0
    while unsent > 0, ending == nil {
      steps += 1
      check(steps < 1000, "sending ends")
      let bytes = (sent..<(sent + unsent)).map(Self.content(at:))
      guard case .bytes(let count) = bytes.withUnsafeBytes({ session.send($0) }) else { return }
      check((1...unsent).contains(count), "no more is sent than given")
      sent += count
      unsent -= count
    }
  }

  private func receiveContent() {
    if let ending { return check(result(of: session.receive(into: buffer)) == ending, "an end is final") }
    var steps = 0
    while ending == nil {
      steps += 1
      check(steps <= delivered + 16, "receiving ends")
      let got = session.receive(into: buffer)
      guard case .bytes(let count) = got else {
        ending = result(of: got)
        // No other event follows, so another call must have the same result.
        return check(result(of: session.receive(into: buffer)) == ending, "a result stays the same")
      }
      take(count)
      if count < buffer.count, !session.hasBuffered, !hasEnded {
        return check(session.receive(into: buffer) == .later, "a short read leaves nothing behind")
      }
    }
  }

  private func take(_ count: Int) {
    check((1...buffer.count).contains(count), "a read has bytes")
    for byte in buffer[..<count] {
      check(byte == Self.content(at: received), "the client receives what the server wrote")
      received += 1
    }
    check(received <= written, "no byte of the server is made up")
  }

  private func isBytes(_ got: EngineSocket.Transferred) -> Bool { if case .bytes = got { true } else { false } }

  private func result(of got: EngineSocket.Transferred) -> Ending? {
    switch got {
    case .bytes: fatalError("property: bytes arrive after the end")
    case .later: return nil
    case .end:
      let isCutOff = session.isCutOff
      check(isCutOff || saidEnd, "an end without close_notify is a cut")
      check(isCutOff || received == written, "close_notify follows the whole content")
      return .end(isCutOff: isCutOff)
    case .failed(let error):
      let failure = session.failure
      check(error != 0 && (failure.reason != nil || failure.systemError != 0), "a failure has a reason")
      return .failed(error)
    }
  }

  /// Tells libFuzzer about the state of the session.
  private func note() {
    var number: UInt32 = 17
    func add(_ value: UInt32) { number = number &* 31 &+ value }
    switch ending {
    case nil: add(1)
    case .handshake: add(2)
    case .end(let isCutOff): add(isCutOff ? 3 : 4)
    case .failed(let error): add(5 &+ UInt32(bitPattern: error))
    }
    if ending != nil { for byte in (session.failure.reason ?? "").utf8 { add(UInt32(byte)) } }
    for flag in [session.hasBuffered, session.hasUnsent, received > 0, sent > 0, saidEnd] { add(flag ? 1 : 2) }
    fuzz_peer_note(number)
  }
}
