import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// What an app can observe, what wakes an outbox, and several outboxes on one folder.
struct OutboxWatchTests {
  @Test func `summary counts the states`() async throws {
    let fixture = try OutboxFixture { $0.bodyText.contains("bad") ? .status(400) : .status(204) }
    let outbox = try fixture.open()
    #expect(await (try outbox.add(Rename(title: "bad"))).outcome.state == .rejected)
    #expect(await (try outbox.add(Rename(title: "good"))).outcome.isDelivered)
    outbox.pause()
    let last = try await outbox.add(Rename(title: "last"))
    let summary = try await outbox.summary
    #expect(summary.counts == [.rejected: 1, .delivered: 1, .queued: 1])
    #expect(summary.waiting == 1)
    #expect(summary.deadLetters == 1)
    #expect(summary.oldest == (try await outbox.entry(last.id))?.added)
    await outbox.close()
  }

  @Test func `summaries follow the entries`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    var summaries = outbox.summaries.makeAsyncIterator()
    outbox.pause()
    _ = try await outbox.add(Rename(title: "x"))
    #expect(await summaries.next()?.waiting == 1)
    outbox.resume()
    while let summary = await summaries.next(), summary.waiting > 0 {}
    #expect(try await outbox.summary.counts == [.delivered: 1])
    await outbox.close()
    #expect(await summaries.next() == nil)
  }

  @Test func `changes name each state of each entry`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    let changes = outbox.changes
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(await receipt.outcome.isDelivered)
    await outbox.close()
    var seen: [OutboxState] = []
    for await entry in changes where entry.id == receipt.id { seen.append(entry.state) }
    #expect(seen == [.queued, .sending, .delivered])
  }

  @Test func `entry discarded in flight ends once`() async throws {
    let fixture = try OutboxFixture { _ in .stall() }
    try await fixture.login("ada")
    let outbox = try fixture.open()
    let changes = outbox.changes
    let receipt = try await outbox.add(Rename(title: "x"))
    let states = receipt.states
    try await fixture.server.request(number: 1)
    #expect(try await outbox.prepareLogout(of: "ada", .discard) == 0)
    await outbox.close()
    var seen: [OutboxState] = []
    for await entry in changes where entry.id == receipt.id { seen.append(entry.state) }
    #expect(seen == [.queued, .sending, .cancelled])
    var last: OutboxState?
    for await state in states { last = state }
    #expect(last == .cancelled)
  }

  @Test func `lanes are listed with their accounts`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let first = try await outbox.add(Rename(note: "a/b", title: "x"))
    _ = try await outbox.add(Rename(note: "a/b", title: "y"))
    try await fixture.login("ada")
    let second = try await outbox.add(Rename(note: "a/b", title: "z"))
    let lanes = try await outbox.lanes()
    #expect(lanes.map(\.name) == ["note/a%2Fb", "note/a%2Fb"])
    #expect(lanes.map(\.account) == [nil, "ada"])
    #expect(lanes.map(\.count) == [2, 1])
    #expect(lanes.map(\.first) == [first.id, second.id])
    await outbox.close()
  }

  @Test func `entries are listed page by page`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    var ids: [OutboxEntry.ID] = []
    for number in 0..<5 { ids.append(try await outbox.add(Rename(title: "\(number)")).id) }
    let page = try await outbox.entries(limit: 2)
    #expect(page.map(\.id) == Array(ids[..<2]))
    #expect(try await outbox.entries(after: page.last?.id, limit: 9).map(\.id) == Array(ids[2...]))
    await outbox.close()
  }

  @Test func `calls of entries are observed and dead letters logged`() async throws {
    let lines = Locked<[String]>([])
    let fixture = try OutboxFixture { _ in .status(400) }
    fixture.client.configure { $0.log = { line in lines.withLock { $0.append(line.description) } } }
    let outbox = try fixture.open()
    #expect(try await outbox.add(Rename(title: "hidden")).outcome.state == .rejected)
    await outbox.close()
    let log = lines.withLock { $0 }
    #expect(log.contains { $0.contains("sending PATCH") })
    #expect(log.contains { $0.contains("warning: outbox: entry 1 (Rename) is rejected") })
    #expect(!log.contains { $0.contains("hidden") })
  }

  @Test func `receipt of a closed outbox ends`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let receipt = try await outbox.add(Rename(title: "x"))
    async let outcome = receipt.outcome
    await outbox.close()
    #expect(await outcome.state == .queued)
  }

  // MARK: - Wakers

  @Test func `waker sends entries that wait for the network`() async throws {
    let name = Notification.Name("errand.test.\(UUID().uuidString)")
    let port = try RefusingPort()
    let fixture = try OutboxFixture()
    let base = fixture.client.configuration.servers.current.baseURL
    fixture.client.configure { $0.servers.current.baseURL = port.url }
    let outbox = try fixture.open { $0.wakers = [NotificationWaker(name)] }
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    fixture.client.configure { $0.servers.current.baseURL = base }
    NotificationCenter.default.post(name: name, object: nil)
    #expect(await receipt.outcome.isDelivered)
    await outbox.close()
  }

  // MARK: - Several processes

  @Test func `outbox without the lease adds and does not send`() async throws {
    let fixture = try OutboxFixture()
    let first = try fixture.open { $0.pollInterval = .seconds(1) }
    let one = try await first.add(Rename(title: "one"))
    #expect(await one.outcome.isDelivered)
    let second = try fixture.open()
    let two = try await second.add(Rename(title: "two"))
    #expect(try await second.entry(two.id)?.state == .queued)
    #expect(fixture.server.requests.count == 1)
    #expect(try await fixture.advance(first, until: two.id, by: .milliseconds(100)))
    let isHeard = try await until {
      fixture.clock.advance(by: .milliseconds(500))
      // Otherwise a day may pass on the clock before the outbox has had its turn, and the entry is removed.
      try await second.handleEvents()
      return two.state == .delivered
    }
    #expect(isHeard)
    #expect(await two.outcome.value == nil)
    await first.close()
    await second.close()
  }

  @Test func `receipt hears that another outbox cancelled`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { _ in LoopbackAnswer.status(500).held(at: gate) }
    let first = try fixture.open()
    let receipt = try await first.add(Rename(title: "x"))
    try await fixture.server.request(number: 1)
    let second = try fixture.open()
    #expect(try await second.cancel(receipt.id) == .unknown)
    first.wake()
    try await first.handleEvents()
    gate.open()
    #expect(try await until { receipt.state == .unknown })
    #expect(receipt.watch.details.reason?.code == .cancelled)
    await first.close()
    await second.close()
  }

  @Test(arguments: [false, true]) func `receipt hears what a decision reads`(cancels: Bool) async throws {
    let fixture = try OutboxFixture()
    let first = try fixture.open()
    first.pause()
    let receipt = try await first.add(Rename(title: "x"))
    try await first.handleEvents()
    let second = try fixture.open()
    #expect(try await second.cancel(receipt.id) == .cancelled)
    #expect(receipt.state == .queued)
    if cancels {
      #expect(try await first.cancel(receipt.id) == .cancelled)
    } else {
      #expect(try await first.receipt(for: receipt.id, of: Rename.self).state == .cancelled)
    }
    #expect(await receipt.outcome.reason?.code == .cancelled)
    await first.close()
    await second.close()
  }

  @Test func `other outbox sends when the first one is closed`() async throws {
    let fixture = try OutboxFixture()
    let first = try fixture.open()
    #expect(try await first.add(Rename(title: "one")).outcome.isDelivered)
    let second = try fixture.open()
    let two = try await second.add(Rename(title: "two"))
    #expect(try await second.entry(two.id)?.state == .queued)
    await first.close()
    #expect(try await fixture.advance(second, until: two.id))
    #expect(await two.outcome.isDelivered)
    await second.close()
  }
}
