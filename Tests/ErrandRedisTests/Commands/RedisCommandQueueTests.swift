import ErrandCache
import ErrandCore
import Foundation
import StoreSamples
import Testing

@testable import ErrandRedis

/// The queue of commands for Redis, tested without a server.
struct RedisCommandQueueTests {
  private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
  private let layout = RedisLayout(prefix: "p", span: 1_000)
  private static let settings = {
    var settings = RedisSettings()
    settings.backlogLimit = 100_000
    return settings
  }()
  private var queue = RedisCommandQueue(Self.settings)

  private func at(_ milliseconds: Int) -> MonotonicInstant { Self.start.advanced(by: .milliseconds(milliseconds)) }

  private mutating func step(_ milliseconds: Int) -> String {
    switch queue.next(now: at(milliseconds), hasRoom: true) {
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
    case .request(let call, _): "\(call.script)"
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

  @discardableResult private mutating func request() -> PendingReply? {
    let pendingReply = PendingReply()
    return queue.request(layout.call(.find), pendingReply) ? pendingReply : nil
  }

  private mutating func connect(_ milliseconds: Int = 0) {
    #expect(step(milliseconds) == "connect")
    queue.connected(at(milliseconds))
  }

  /// Receives a reply to the first command in flight, and ends the command.
  @discardableResult private mutating func reply(_ milliseconds: Int, next: RedisWrite? = nil) -> [PendingReply] {
    guard case .write(let write, let number) = queue.replied(at(milliseconds)) else { return [] }
    return queue.finish(write, number, next: next)
  }

  @Test mutating func `idle queue waits`() {
    #expect(step(0) == "wait")
    queue.close()
    #expect(step(0) == "end")
  }

  @Test mutating func `commands are sent in order`() {
    queue.write(.put(Sample.entry("/a")))
    request()
    queue.write(.remove(.tag("x")))
    connect()
    #expect(step(0) == "send put find remove")
    #expect(step(0) == "wait 2000")
  }

  @Test mutating func `connecting times out after a second`() {
    request()
    #expect(step(0) == "connect")
    #expect(step(999) == "wait 1000")
    #expect(step(1_000) == "give up")
  }

  @Test mutating func `two silent seconds end the connection`() {
    request()
    request()
    connect()
    _ = step(0)
    reply(1_500)
    #expect(step(1_500) == "wait 3500")
    #expect(step(3_499) == "wait 3500")
    #expect(step(3_500) == "give up")
  }

  @Test mutating func `unexpected reply has no job`() {
    request()
    connect()
    #expect(queue.replied(at(0)) == nil)
  }

  @Test mutating func `abandoned requests are not sent`() {
    let pendingReply = request()
    request()
    connect()
    _ = pendingReply?.leave()
    #expect(step(0) == "send find")
  }

  @Test mutating func `commands in flight are limited`() {
    for _ in 0..<100 { request() }
    connect()
    #expect(step(0).split(separator: " ").count == 1 + RedisCommandQueue.mostSent)
    #expect(step(0) == "wait 2000")
    reply(0)
    #expect(step(0) == "send find")
  }

  @Test mutating func `down phase rejects immediately`() {
    request()
    _ = step(0)
    #expect(queue.lost(at(0), spread: 1).count == 1)
    #expect(request() == nil)
    #expect(step(0) == "wait 100")
    #expect(step(100) == "connect")
    // Calls do not wait for a Redis that has failed.
    #expect(request() == nil)
    #expect(queue.lost(at(100), spread: 1).isEmpty)
    #expect(request() == nil)
    #expect(step(100) == "wait 300")
  }

  @Test mutating func `unused connection stays down`() {
    request()
    _ = step(0)
    _ = queue.lost(at(0), spread: 1)
    #expect(step(1_000) == "wait")
    request()
    #expect(step(1_000) == "connect")
  }

  @Test mutating func `lost writes become removals`() {
    queue.write(.put(Sample.entry("/a")))
    queue.write(.renew(Sample.key("/b"), stored: WallTime(milliseconds: 1), head: Sample.head()))
    queue.write(.remove(.tag("x")))
    connect()
    _ = step(0)
    queue.write(.put(Sample.entry("/c")))
    _ = queue.lost(at(0), spread: 0)
    queue.write(.put(Sample.entry("/d")))
    #expect(step(50) == "connect")
    queue.connected(at(50))
    request()
    #expect(step(50) == "send remove displace displace displace find")
  }

  @Test mutating func `lost idle connection is no failure`() {
    request()
    connect()
    _ = step(0)
    reply(0)
    #expect(queue.lost(at(10), spread: 1).isEmpty)
    #expect(request() != nil)
    #expect(step(10) == "connect")
  }

  @Test mutating func `connection without a reply failed`() {
    request()
    connect()
    #expect(queue.lost(at(10), spread: 1).count == 1)
    #expect(request() == nil)
    #expect(step(10) == "wait 110")
  }

  @Test mutating func `reply resets the back-off`() {
    for (time, wait) in [(0, 100), (100, 300), (300, 700)] {
      request()
      #expect(step(time) == "connect")
      _ = queue.lost(at(time), spread: 1)
      request()
      #expect(step(time) == "wait \(wait)")
    }
    connect(700)
    request()
    _ = step(700)
    reply(700)
    request()
    _ = step(700)
    _ = queue.lost(at(700), spread: 1)
    request()
    #expect(step(700) == "wait 800")
  }

  @Test mutating func `barrier waits for earlier changes`() {
    queue.write(.put(Sample.entry("/a")))
    queue.write(.remove(.all))
    let pendingReply = PendingReply()
    #expect(queue.barrier(pendingReply) == true)
    queue.write(.put(Sample.entry("/b")))
    connect()
    _ = step(0)
    #expect(reply(0).isEmpty)
    #expect(reply(0, next: .purge(cursor: "0")).isEmpty)
    #expect(reply(0).isEmpty)
    #expect(step(0) == "send purge")
    #expect(reply(0).count == 1)
    #expect(queue.barrier(PendingReply()) == false)
  }

  @Test mutating func `lost connection ends barriers`() {
    queue.write(.put(Sample.entry("/a")))
    #expect(queue.barrier(PendingReply()) == true)
    connect()
    _ = step(0)
    #expect(queue.lost(at(0), spread: 1).count == 1)
    #expect(queue.barrier(PendingReply()) == false)
  }

  @Test mutating func `rejected removal is sent again`() {
    queue.write(.remove(.tag("x")))
    connect()
    _ = step(0)
    guard case .write(let write, _) = queue.replied(at(0)) else {
      Issue.record("no write")
      return
    }
    queue.recordPending(write)
    #expect(queue.hasPendingRemovals)
    _ = queue.lost(at(0), spread: 1)
    connect(100)
    #expect(step(100) == "send remove")
    reply(100)
    #expect(queue.isSettled)
  }

  @Test(arguments: [
    RedisWrite.touch([:]), .drop(RedisUse(entry: "e", variant: "v"), head: Data()),
    .renew(Sample.key("/a"), stored: WallTime(milliseconds: 1), head: Sample.head()), .remove(.tag("x")),
  ])
  mutating func `rejected change ends its barriers`(write: RedisWrite) {
    queue.write(write)
    #expect(queue.barrier(PendingReply()) == true)
    connect()
    _ = step(0)
    guard case .write(let rejected, _) = queue.replied(at(0)) else {
      Issue.record("no write")
      return
    }
    queue.recordPending(rejected)
    #expect(queue.lost(at(0), spread: 1).count == 1)
    #expect(step(0) == "wait 100")
    connect(100)
    while !queue.isSettled, step(100).hasPrefix("send") { reply(100) }
    #expect(queue.isSettled && queue.barrier(PendingReply()) == false)
  }

  @Test(arguments: [
    CacheSelection.key(Sample.key("/a")), .target(Sample.digest("target")), .account(Sample.digest("account")),
  ])
  mutating func `new salt turns waiting removals into all`(selection: CacheSelection) {
    queue.write(.remove(selection))
    request()
    queue.write(.remove(.tag("x")))
    queue.write(.remove(selection))
    queue.write(.put(Sample.entry("/b")))
    queue.write(.remove(selection))
    queue.write(.remove(.variant(Sample.key("/a"), Sample.digest("variant"))))
    #expect(queue.barrier(PendingReply()) == true)
    #expect(queue.saltChanged().isEmpty)
    connect()
    #expect(step(0) == "send all find remove put all")
    var pendingReplies: [PendingReply] = []
    for _ in 0..<5 { pendingReplies += reply(0) }
    #expect(pendingReplies.count == 1 && queue.isSettled)
  }

  @Test mutating func `new salt ends waits for dropped removals`() {
    queue.write(.remove(.variant(Sample.key("/a"), Sample.digest("variant"))))
    #expect(queue.barrier(PendingReply()) == true)
    #expect(queue.saltChanged().count == 1)
    #expect(queue.isSettled)
  }

  @Test mutating func `full backlog removes the older entry`() {
    queue.write(.put(CacheEntry(key: Sample.key("/a"), head: Sample.head(), body: Data(count: 60_000))))
    queue.write(.put(CacheEntry(key: Sample.key("/b"), head: Sample.head(), body: Data(count: 60_000))))
    connect()
    #expect(step(0) == "send put displace")
    reply(0)
    queue.write(.put(CacheEntry(key: Sample.key("/b"), head: Sample.head(), body: Data(count: 60_000))))
    #expect(step(0) == "send put")
  }

  @Test mutating func `closing sends pending changes`() {
    queue.write(.put(Sample.entry("/a")))
    queue.close()
    connect()
    #expect(step(0) == "send put")
    #expect(step(0) == "wait 2000")
    reply(0)
    #expect(step(0) == "end")
    #expect(request() == nil)
  }

  @Test mutating func `closed queue accepts nothing`() {
    queue.close()
    queue.write(.put(Sample.entry("/a")))
    #expect(request() == nil && step(0) == "end" && queue.isSettled)
    queue.write(.remove(.all))
    #expect(!queue.isSettled && queue.hasPendingRemovals && step(0) == "end")
  }

  @Test mutating func `closing does not wait during an outage`() {
    queue.write(.remove(.all))
    queue.close()
    #expect(step(0) == "connect")
    _ = queue.lost(at(0), spread: 1)
    #expect(step(0) == "end")
  }
}
