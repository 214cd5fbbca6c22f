import CHiredis
import ErrandCache
import ErrandCore
import ErrandSupport
import Foundation

/// The work on the thread of a ``RedisStore``. Only this thread uses the connection to Redis.
final class RedisLoop {
  private let settings: RedisSettings
  private let address: RedisAddress
  private let layout: RedisLayout
  private let mailbox: RedisMailbox
  private let pipe: WakePipe
  private var connection: RedisConnection?
  /// The kinds of the replies that must still arrive before a new connection can be used.
  private var greetings = FIFO<Greeting>()
  /// The SHA-1 names under which Redis has stored the scripts.
  private var names: [RedisScript: Data] = [:]

  private enum Greeting {
    /// The expected reply belongs to a command such as `AUTH`. Every reply except an error is accepted.
    case word
    /// The expected reply belongs to the command `SCRIPT LOAD`. It is the SHA-1 name of the script.
    case name(RedisScript)
  }

  init(
    settings: RedisSettings, address: RedisAddress, layout: RedisLayout, mailbox: RedisMailbox, pipe: WakePipe
  ) {
    self.settings = settings
    self.address = address
    self.layout = layout
    self.mailbox = mailbox
    self.pipe = pipe
  }

  func run() {
    while true {
      switch mailbox.next(hasRoom: connection?.hasRoom ?? false) {
      case .connect: if !connect() { drop() }
      case .send(let jobs): if !send(jobs) { drop() }
      case .giveUp: drop()
      case .wait(let until): if !wait(until) { drop() }
      case .end: return
      }
    }
  }

  private func drop() {
    connection = nil
    _ = greetings.takeAll()
    mailbox.lost()
  }

  // MARK: - Connecting

  private func connect() -> Bool {
    names = [:]
    connection = RedisConnection(address, mostBytes: settings.mostReplyBytes)
    guard let connection else { return false }
    return settings.greetings.allSatisfy { greet(connection, .word, $0) }
      && RedisScript.allCases.allSatisfy { greet(connection, .name($0), ["SCRIPT", "LOAD", $0.source]) }
  }

  private func greet(_ connection: RedisConnection, _ greeting: Greeting, _ parts: [String]) -> Bool {
    greetings.append(greeting)
    return connection.add(RedisCall.encode(parts.map { Data($0.utf8) }))
  }

  private func greeted(_ greeting: Greeting, _ reply: RedisReply) -> Bool {
    switch greeting {
    case .word: guard !reply.isError else { return false }
    case .name(let script):
      guard let name = reply.data else { return false }
      names[script] = name
    }
    if greetings.isEmpty { mailbox.connected() }
    return true
  }

  // MARK: - Sending

  private func send(_ jobs: [RedisJob]) -> Bool {
    guard let connection else { return false }
    for job in jobs {
      let call =
        switch job {
        case .request(let call, _): call
        case .write(let write, _): write.call(layout)
        }
      guard let name = names[call.script], connection.add(call.encoded(name: name)) else { return false }
    }
    return connection.write()
  }

  // MARK: - Waiting and reading

  private func wait(_ until: MonotonicInstant?) -> Bool {
    let time = until.map { MonotonicInstant.now.duration(to: $0).clampedMilliseconds } ?? -1
    var places = [pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)]
    if let connection {
      let events = connection.hasRoom ? POLLIN : POLLIN | POLLOUT
      places.append(pollfd(fd: connection.descriptor, events: Int16(events), revents: 0))
    }
    guard poll(&places, nfds_t(places.count), time) > 0 else { return true }
    if places[0].revents != 0 { pipe.drain() }
    guard let connection, let place = places.dropFirst().first, place.revents != 0 else { return true }
    return serve(connection, place.revents)
  }

  private func serve(_ connection: RedisConnection, _ events: Int16) -> Bool {
    if events & Int16(POLLOUT) != 0 {
      guard connection.write() else { return false }
      mailbox.progressed()
    }
    guard events & ~Int16(POLLOUT) != 0 else { return true }
    let received = connection.bytesReceived
    let isOpen = connection.read()
    if connection.bytesReceived != received { mailbox.progressed() }
    do throws(RedisProtocolFailure) {
      while let reply = try connection.reply() {
        guard take(reply) else { return false }
      }
    } catch {
      return false
    }
    return isOpen
  }

  /// Handles a reply. Returns false if the connection cannot be used any more.
  private func take(_ reply: RedisReply) -> Bool {
    if let greeting = greetings.popFirst() { return greeted(greeting, reply) }
    guard let job = mailbox.replied() else { return false }
    if let salt = reply.salt, layout.adopt(salt) { mailbox.saltChanged() }
    switch job {
    case .request(_, let pendingReply):
      pendingReply.settle(reply.isError ? nil : reply)
      return !reply.lacksScript
    case .write(let write, let number):
      guard !reply.lacksScript, !write.isRefused(by: reply) else {
        mailbox.recordPending(write)
        return false
      }
      mailbox.finish(write, number, next: write.next(after: reply))
      return true
    }
  }
}

enum RedisAddress: Sendable, Hashable {
  case tcp(host: String, port: Int)
  case unix(path: String)
}

/// One connection to Redis. All methods must be called on one thread. No method blocks, with one exception: connecting
/// may block while the host name is resolved.
final class RedisConnection {
  private let context: UnsafeMutablePointer<redisContext>
  private let mostBytes: Int
  // The limits for replies are allocated separately, because hiredis keeps a pointer to them.
  private let limits: UnsafeMutablePointer<errand_redis_limits>
  /// Whether the operating system has accepted all bytes of the commands, so that further commands can be sent.
  private(set) var hasRoom = true
  private(set) var bytesReceived = 0

  /// Starts to connect. Nil if the attempt fails immediately.
  /// - Parameter mostBytes: The maximum length of a reply in bytes.
  init?(_ address: RedisAddress, mostBytes: Int) {
    let context =
      switch address {
      case .tcp(let host, let port): redisConnectNonBlock(host, Int32(clamping: port))
      case .unix(let path): redisConnectUnixNonBlock(path)
      }
    guard let context else { return nil }
    guard context.pointee.err == 0 else {
      redisFree(context)
      return nil
    }
    self.context = context
    self.mostBytes = mostBytes
    limits = .allocate(capacity: 1)
    if let reader = context.pointee.reader { errand_redis_bind(reader, limits, max(0, mostBytes)) }
  }

  deinit {
    redisFree(context)
    limits.deallocate()
  }

  var descriptor: Int32 { Int32(context.pointee.fd) }

  /// Adds a command to the output buffer. Returns false if there is not enough memory.
  func add(_ command: [UInt8]) -> Bool {
    hasRoom = false
    return command.withUnsafeBytes { bytes in
      guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return true }
      return redisAppendFormattedCommand(context, start, bytes.count) == REDIS_OK
    }
  }

  /// Sends as many bytes as the connection accepts. Returns false if the connection is lost.
  func write() -> Bool {
    var done: Int32 = 0
    guard redisBufferWrite(context, &done) == REDIS_OK else { return false }
    hasRoom = done == 1
    return true
  }

  /// Reads the available bytes. Returns false if the connection is lost or a reply is too long.
  func read() -> Bool {
    for _ in 0..<64 {
      guard let reader = context.pointee.reader else { return false }
      let before = reader.pointee.len
      guard redisBufferRead(context) == REDIS_OK else { return false }
      let after = reader.pointee.len
      guard after <= mostBytes else { return false }
      if after == before { break }
      bytesReceived &+= after &- before
    }
    return true
  }

  /// The next complete reply; nil if no complete reply has arrived. Throws if the bytes are not valid replies.
  func reply() throws(RedisProtocolFailure) -> RedisReply? {
    var found: UnsafeMutableRawPointer?
    guard let reader = context.pointee.reader, redisReaderGetReply(reader, &found) == REDIS_OK else {
      throw RedisProtocolFailure()
    }
    guard let found else { return nil }
    defer { freeReplyObject(found) }
    return RedisReply(UnsafePointer(found.assumingMemoryBound(to: redisReply.self)))
  }
}

/// Thrown if the received bytes are not valid Redis protocol.
struct RedisProtocolFailure: Error {}
