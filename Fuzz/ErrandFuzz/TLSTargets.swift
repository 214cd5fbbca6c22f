import CFuzzPeer
@testable import ErrandEngine
import Glibc

/// The records of a TLS server, through the TLS session of the engine with OpenSSL.
enum TLSTargets {
  private static let pieces = [1, 2, 3, 5, 7, 16, 29, 64, 100, 250, 517, 1000, 1400, 4096, 16_384, 65_536]
  private static let buffers = [1, 5, 64, 1000, 4096, 16_384, 65_536, 65_536]
  /// The number of messages of TLS itself that the client accepts without content.
  private static let mostMessages = 1000

  /// The first two bytes decide about the handshake, the version and the sizes. The rest is what the server sends
  /// instead of a handshake, or a list of steps of three bytes, by which a server sends and its records are changed.
  static func records(_ input: FuzzInput) {
    fuzz_peer_prepare()
    guard TLSLink.context != nil, let (first, more) = input.choice, let (second, rest) = more.choice else { return }
    fuzz_peer_prepare()
    let settings = fuzz_peer_settings(
      is_tls_1_2: first & 4 != 0, asks_for_certificate: first & 8 != 0, has_small_records: second & 8 != 0,
      pads: second & 16 != 0)
    guard let link = TLSLink(settings, buffer: buffers[Int(second & 7)]) else { return }
    if first & 2 != 0 {
      shakeHands(link)
      check(link.isEstablished && link.ending == nil, "an unchanged handshake succeeds")
    }
    link.split(into: pieces[Int(first >> 4)])
    if first & 3 == 0 { raw(rest, link) } else { steps(rest, link) }
  }

  /// A peer without the key of the certificate, which sends the bytes of the input.
  private static func raw(_ input: FuzzInput, _ link: TLSLink) {
    link.takeClientTurn()
    link.deliver(Array(input.bytes))
    link.end(isReset: false)
    link.takeClientTurn()
    check(!link.isEstablished && link.ending == .handshake, "only the owner of the key completes a handshake")
  }

  private static func shakeHands(_ link: TLSLink) {
    link.takeClientTurn()
    for _ in 0..<10 where !(link.isEstablished && fuzz_peer_is_established(link.peer)) || !link.records.isEmpty {
      link.takeServerTurn()
      link.deliverAll()
    }
  }

  // MARK: - Steps

  private static func steps(_ input: FuzzInput, _ link: TLSLink) {
    link.takeClientTurn()
    link.takeServerTurn()
    var script = Script(bytes: input.bytes)
    while !link.hasEnded, let step = script.next() {
      switch step.kind % 22 {
      case 0...7: send(step, link, &script)
      case 8...11: deliver(step, link)
      case 12...17: change(step, link, &script)
      default: ask(step, link, messages: script.messages)
      }
    }
    finish(link, messages: script.messages)
  }

  /// The server sends.
  private static func send(_ step: Script.Step, _ link: TLSLink, _ script: inout Script) {
    guard fuzz_peer_is_established(link.peer) else { return link.deliverAll() }
    switch step.kind % 22 {
    case 0, 1: link.write(step.a + 1)
    case 2: link.write((step.a + 1) * 64)
    case 3: script.messages += fuzz_peer_update_keys(link.peer, false) ? 1 : 0
    case 4: script.messages += fuzz_peer_update_keys(link.peer, true) ? 1 : 0
    case 5:
      // Many tickets in sequence are a flood.
      for _ in 0..<(step.a == 255 ? 1100 : step.a % 4 + 1) where script.messages < 2000 {
        script.messages += fuzz_peer_send_ticket(link.peer) ? 1 : 0
      }
    case 6: link.sayEnd()
    default:
      // The server fails because the client refuses.
      if fuzz_peer_renegotiate(link.peer) { link.isChanged = true }
    }
    link.takeServerTurn()
  }

  private static func deliver(_ step: Script.Step, _ link: TLSLink) {
    switch step.kind % 22 {
    case 8: link.deliverAll()
    case 9: link.deliverAll(withTurns: false)
    default:
      // The beginning of the records.
      guard !link.records.isEmpty else { return }
      let record = link.records.removeFirst()
      let count = step.kind % 22 == 10 ? record.count : min(step.a << 8 | step.b, record.count)
      if count < record.count { link.records.insert(Array(record[count...]), at: 0) }
      link.deliver(Array(record[..<count]))
    }
  }

  /// An attacker changes the records that are on their way.
  private static func change(_ step: Script.Step, _ link: TLSLink, _ script: inout Script) {
    if step.kind % 22 == 17 {
      link.isChanged = true
      let payload = script.take(step.b % 64)
      return link.records.insert(
        [UInt8(step.a), 3, 3, 0, UInt8(payload.count)] + payload, at: step.b >> 6 == 3 ? link.records.count : 0)
    }
    guard !link.records.isEmpty else { return }
    let place = step.a % link.records.count
    let count = link.records[place].count
    guard count > 0 else { return }
    link.isChanged = true
    switch step.kind % 22 {
    case 12: link.records[place][(step.b * 7) % count] ^= UInt8(1 << (step.b & 7))
    case 13: link.records[place][step.b % min(count, 16)] = UInt8(step.a)
    case 14: link.records.remove(at: place)
    case 15: link.records.insert(link.records[place], at: step.b % (link.records.count + 1))
    default: link.records[place].removeLast(min(step.b + 1, count))
    }
  }

  /// The client sends or asks, or the socket ends.
  private static func ask(_ step: Script.Step, _ link: TLSLink, messages: Int) {
    switch step.kind % 22 {
    case 18: link.send((step.a + 1) * (step.b & 1 == 0 ? 1 : 64))
    case 19: checkUnread(link, messages: messages)
    case 20: link.isStalled.toggle()
    default:
      guard step.a > 200 else { return link.takeServerTurn() }
      link.end(isReset: step.b & 1 != 0)
    }
  }

  private static func checkUnread(_ link: TLSLink, messages: Int) {
    guard link.isEstablished, link.ending == nil, messages <= mostMessages else { return }
    let hasUnread = link.session.hasUnread
    guard !link.isChanged, link.records.isEmpty, !link.hasEnded else { return }
    check(hasUnread == (link.written > link.received || link.saidEnd), "only content and the end count as unread")
  }

  // MARK: - The end

  /// Delivers what is left, ends the connection, and checks what the client received.
  private static func finish(_ link: TLSLink, messages: Int) {
    link.isStalled = false
    let isCutByInput = link.hasEnded
    for _ in 0..<10 where !link.hasEnded {
      link.takeServerTurn()
      link.deliverAll()
    }
    let isWhole = !isCutByInput && !link.isChanged && link.records.isEmpty && messages <= mostMessages
    link.end(isReset: false)
    for _ in 0..<4 {
      link.takeClientTurn()
      link.takeServerTurn()
    }
    check(link.ending != nil, "a session ends with its socket")
    // OpenSSL 3.0 answers a request to update the keys when the next message of TLS arrives, even if it has sent only a
    // part of a record. It then fails.
    if link.session.failure.reason == "bad length" { return }
    guard isWhole else {
      let isFlood = messages > mostMessages + 10 + link.written / 65_536 && !link.isChanged && !isCutByInput
      return check(!isFlood || link.ending == .failed(EPROTO), "a flood of messages is a failure")
    }
    check(link.isEstablished && link.received == link.written, "the client receives everything: \(link.summary)")
    check(link.ending == .end(isCutOff: !link.saidEnd), "the end is as the server said: \(link.summary)")
    check(link.saidEnd || link.unsent == 0, "the client sends everything: \(link.summary)")
    check(link.receivedByServer == link.sent, "the server receives everything: \(link.summary)")
  }

  /// The steps of an input.
  private struct Script {
    struct Step {
      let kind: UInt8
      let a: Int
      let b: Int
    }

    let bytes: UnsafeRawBufferPointer
    var place = 0
    /// The number of messages of TLS itself that the server has sent after the handshake.
    var messages = 0

    mutating func next() -> Step? {
      guard place + 3 <= bytes.count else { return nil }
      defer { place += 3 }
      return Step(kind: bytes[place], a: Int(bytes[place + 1]), b: Int(bytes[place + 2]))
    }

    mutating func take(_ count: Int) -> [UInt8] {
      let end = min(place + count, bytes.count)
      defer { place = end }
      return Array(bytes[place..<end])
    }
  }
}
