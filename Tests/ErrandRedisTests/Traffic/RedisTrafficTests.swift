import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// The queue of commands for Redis, tested without a server.
@Suite struct RedisTrafficTests {
  private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
  private let layout = RedisLayout(prefix: "p", span: 1_000)
  private var traffic = RedisTraffic(limits: RedisLimits(backlog: 100_000))

  private func at(_ milliseconds: Int) -> MonotonicInstant { Self.start.advanced(by: .milliseconds(milliseconds)) }

  private mutating func step(_ milliseconds: Int) -> String {
    switch traffic.next(now: at(milliseconds), hasRoom: true) {
    case .connect: "connect"
    case .send(let jobs): "send " + jobs.map(Self.name).joined(separator: " ")
    case .giveUp: "give up"
    case .wait(nil): "wait"
    case .wait(let until?): "wait \(Self.start.duration(to: until).clampedMilliseconds)"
    case .end: "end"
    }
  }

  private static func name(_ job: RedisJob) -> String {
    switch job {
    case .ask(let call, _): "\(call.script)"
    case .write(let write, _): name(write)
    }
  }

  private static func name(_ write: RedisWrite) -> String {
    switch write {
    case .put: "put"
    case .renew: "renew"
    case .remove(.variant): "variant"
    case .remove(.all): "all"
    case .displace: "displace"
    case .remove: "remove"
    case .sweep: "sweep"
    case .purge: "purge"
    case .touch: "touch"
    case .drop: "drop"
    }
  }

  @discardableResult private mutating func ask() -> RedisTicket? {
    let ticket = RedisTicket()
    return traffic.ask(layout.call(.find), ticket) ? ticket : nil
  }

  private mutating func connect(_ milliseconds: Int = 0) {
    #expect(step(milliseconds) == "connect")
    traffic.connected(at(milliseconds))
  }

  /// Receives a reply to the first command in flight, and ends the command.
  @discardableResult private mutating func answer(_ milliseconds: Int, next: RedisWrite? = nil) -> [RedisTicket] {
    guard case .write(let write, let number) = traffic.answered(at(milliseconds)) else { return [] }
    return traffic.finish(write, number, next: next)
  }

  @Test mutating func `idle traffic waits`() {
    #expect(step(0) == "wait")
    traffic.close()
    #expect(step(0) == "end")
  }

  @Test mutating func `commands are sent in order`() {
    traffic.write(.put(Sample.entry("/a")))
    ask()
    traffic.write(.remove(.tag("x")))
    connect()
    #expect(step(0) == "send put find remove")
    #expect(step(0) == "wait 2000")
  }

  @Test mutating func `connecting times out after a second`() {
    ask()
    #expect(step(0) == "connect")
    #expect(step(999) == "wait 1000")
    #expect(step(1_000) == "give up")
  }

  @Test mutating func `two silent seconds end the connection`() {
    ask()
    ask()
    connect()
    _ = step(0)
    answer(1_500)
    #expect(step(1_500) == "wait 3500")
    #expect(step(3_499) == "wait 3500")
    #expect(step(3_500) == "give up")
  }

  @Test mutating func `unexpected reply has no job`() {
    ask()
    connect()
    #expect(traffic.answered(at(0)) == nil)
  }

  @Test mutating func `abandoned questions are not sent`() {
    let ticket = ask()
    ask()
    connect()
    _ = ticket?.leave()
    #expect(step(0) == "send find")
  }

  @Test mutating func `commands in flight are limited`() {
    for _ in 0..<100 { ask() }
    connect()
    #expect(step(0).split(separator: " ").count == 1 + RedisTraffic.mostSent)
    #expect(step(0) == "wait 2000")
    answer(0)
    #expect(step(0) == "send find")
  }

  @Test mutating func `down phase rejects immediately`() {
    ask()
    _ = step(0)
    #expect(traffic.lost(at(0), spread: 1).count == 1)
    #expect(ask() == nil)
    #expect(step(0) == "wait 100")
    #expect(step(100) == "connect")
    // Calls do not wait for a Redis that has failed.
    #expect(ask() == nil)
    #expect(traffic.lost(at(100), spread: 1).isEmpty)
    #expect(ask() == nil)
    #expect(step(100) == "wait 300")
  }

  @Test mutating func `unused connection stays down`() {
    ask()
    _ = step(0)
    _ = traffic.lost(at(0), spread: 1)
    #expect(step(1_000) == "wait")
    ask()
    #expect(step(1_000) == "connect")
  }

  @Test mutating func `lost writes become removals`() {
    traffic.write(.put(Sample.entry("/a")))
    traffic.write(.renew(Sample.key("/b"), stored: WallTime(milliseconds: 1), head: Sample.head()))
    traffic.write(.remove(.tag("x")))
    connect()
    _ = step(0)
    traffic.write(.put(Sample.entry("/c")))
    _ = traffic.lost(at(0), spread: 0)
    traffic.write(.put(Sample.entry("/d")))
    #expect(step(50) == "connect")
    traffic.connected(at(50))
    ask()
    #expect(step(50) == "send remove variant variant variant find")
  }

  @Test mutating func `lost idle connection is no failure`() {
    ask()
    connect()
    _ = step(0)
    answer(0)
    #expect(traffic.lost(at(10), spread: 1).isEmpty)
    #expect(ask() != nil)
    #expect(step(10) == "connect")
  }

  @Test mutating func `connection without a reply failed`() {
    ask()
    connect()
    #expect(traffic.lost(at(10), spread: 1).count == 1)
    #expect(ask() == nil)
    #expect(step(10) == "wait 110")
  }

  @Test mutating func `reply resets the back-off`() {
    for (time, wait) in [(0, 100), (100, 300), (300, 700)] {
      ask()
      #expect(step(time) == "connect")
      _ = traffic.lost(at(time), spread: 1)
      ask()
      #expect(step(time) == "wait \(wait)")
    }
    connect(700)
    ask()
    _ = step(700)
    answer(700)
    ask()
    _ = step(700)
    _ = traffic.lost(at(700), spread: 1)
    ask()
    #expect(step(700) == "wait 800")
  }

  @Test mutating func `barrier waits for earlier changes`() {
    traffic.write(.put(Sample.entry("/a")))
    traffic.write(.remove(.all))
    let ticket = RedisTicket()
    #expect(traffic.barrier(ticket) == true)
    traffic.write(.put(Sample.entry("/b")))
    connect()
    _ = step(0)
    #expect(answer(0).isEmpty)
    #expect(answer(0, next: .purge(cursor: "0")).isEmpty)
    #expect(answer(0).isEmpty)
    #expect(step(0) == "send purge")
    #expect(answer(0).count == 1)
    #expect(traffic.barrier(RedisTicket()) == false)
  }

  @Test mutating func `lost connection ends barriers`() {
    traffic.write(.put(Sample.entry("/a")))
    #expect(traffic.barrier(RedisTicket()) == true)
    connect()
    _ = step(0)
    #expect(traffic.lost(at(0), spread: 1).count == 1)
    #expect(traffic.barrier(RedisTicket()) == false)
  }

  @Test mutating func `rejected removal is sent again`() {
    traffic.write(.remove(.tag("x")))
    connect()
    _ = step(0)
    guard case .write(let write, _) = traffic.answered(at(0)) else {
      Issue.record("no write")
      return
    }
    traffic.owe(write)
    #expect(traffic.owesRemovals)
    _ = traffic.lost(at(0), spread: 1)
    connect(100)
    #expect(step(100) == "send remove")
    answer(100)
    #expect(traffic.isSettled)
  }

  @Test mutating func `full backlog removes the older entry`() {
    traffic.write(.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(), body: Data(count: 60_000))))
    traffic.write(.put(CacheEntry(key: Sample.key("/b"), head: Sample.head(), body: Data(count: 60_000))))
    connect()
    #expect(step(0) == "send put displace")
    answer(0)
    traffic.write(.put(CacheEntry(key: Sample.key("/b"), head: Sample.head(), body: Data(count: 60_000))))
    #expect(step(0) == "send put")
  }

  @Test mutating func `closing sends pending changes`() {
    traffic.write(.put(Sample.entry("/a")))
    traffic.close()
    connect()
    #expect(step(0) == "send put")
    #expect(step(0) == "wait 2000")
    answer(0)
    #expect(step(0) == "end")
    #expect(ask() == nil)
  }

  @Test mutating func `closing does not wait during an outage`() {
    traffic.write(.remove(.all))
    traffic.close()
    #expect(step(0) == "connect")
    _ = traffic.lost(at(0), spread: 1)
    #expect(step(0) == "end")
  }
}
