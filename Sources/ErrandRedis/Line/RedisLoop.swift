import ErrandCore
import Foundation

/// The loop of a store's thread. Only this thread uses the connection.
final class RedisLoop {
  private let settings: RedisSettings
  private let address: RedisAddress
  private let layout: RedisLayout
  private let mailbox: RedisMailbox
  private let pipe: WakePipe
  private var line: RedisLine?
  /// The replies that must arrive before the connection can be used.
  private var greetings = FIFO<Greeting>()
  /// The SHA-1 names under which Redis has stored the scripts.
  private var names: [RedisScript: Data] = [:]

  private enum Greeting {
    /// The reply to a command such as `AUTH`. Every reply except an error is accepted.
    case word
    /// The reply to `SCRIPT LOAD`: the SHA-1 name of the script.
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
      switch mailbox.next(hasRoom: line?.hasRoom ?? false) {
      case .connect: if !connect() { drop() }
      case .send(let jobs): if !send(jobs) { drop() }
      case .giveUp: drop()
      case .wait(let until): if !wait(until) { drop() }
      case .end: return
      }
    }
  }

  private func drop() {
    line = nil
    _ = greetings.takeAll()
    mailbox.lost()
  }

  // MARK: - Connecting

  private func connect() -> Bool {
    names = [:]
    line = RedisLine(address, mostBytes: settings.mostReplyBytes)
    guard let line else { return false }
    return settings.greetings.allSatisfy { greet(line, .word, $0) }
      && RedisScript.allCases.allSatisfy { greet(line, .name($0), ["SCRIPT", "LOAD", $0.source]) }
  }

  private func greet(_ line: RedisLine, _ greeting: Greeting, _ parts: [String]) -> Bool {
    greetings.append(greeting)
    return line.add(RedisCall.encode(parts.map { Data($0.utf8) }))
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
    guard let line else { return false }
    for job in jobs {
      let call =
        switch job {
        case .ask(let call, _): call
        case .write(let write, _): write.call(layout)
        }
      guard let name = names[call.script], line.add(call.encoded(name: name)) else { return false }
    }
    return line.write()
  }

  // MARK: - Waiting and reading

  private func wait(_ until: MonotonicInstant?) -> Bool {
    let time = until.map { MonotonicInstant.now.duration(to: $0).clampedMilliseconds } ?? -1
    var places = [pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)]
    if let line {
      let events = line.hasRoom ? POLLIN : POLLIN | POLLOUT
      places.append(pollfd(fd: line.descriptor, events: Int16(events), revents: 0))
    }
    guard poll(&places, nfds_t(places.count), time) > 0 else { return true }
    if places[0].revents != 0 { pipe.drain() }
    guard let line, let place = places.dropFirst().first, place.revents != 0 else { return true }
    return serve(line, place.revents)
  }

  private func serve(_ line: RedisLine, _ events: Int16) -> Bool {
    if events & Int16(POLLOUT) != 0 {
      guard line.write() else { return false }
      mailbox.progressed()
    }
    guard events & ~Int16(POLLOUT) != 0 else { return true }
    let isOpen = line.read()
    do throws(RedisLineFailure) {
      while let reply = try line.reply() {
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
    guard let job = mailbox.answered() else { return false }
    if let salt = reply.salt { layout.adopt(salt) }
    switch job {
    case .ask(_, let ticket):
      ticket.settle(reply.isError ? nil : reply)
      return !reply.lacksScript
    case .write(let write, let number):
      guard !reply.lacksScript, !write.isRefused(by: reply) else {
        mailbox.owe(write)
        return false
      }
      mailbox.finish(write, number, next: write.next(after: reply))
      return true
    }
  }
}

/// The address of a Redis server.
enum RedisAddress: Sendable, Hashable {
  case tcp(host: String, port: Int)
  case unix(path: String)
}
