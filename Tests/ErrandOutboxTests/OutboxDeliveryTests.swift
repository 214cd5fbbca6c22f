import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

struct OutboxDeliveryTests {
  @Test func `added request is delivered`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    let outcome = await receipt.outcome
    #expect(outcome.isDelivered)
    #expect(fixture.paths == ["/notes/7"])
    #expect(fixture.bodies == [#"{"title":"x"}"#])
    #expect(try await outbox.summary.waiting == 0)
    await outbox.close()
  }

  @Test func `receipt delivers value and states`() async throws {
    let fixture = try OutboxFixture { _ in .json(#"{"id": "n1"}"#) }
    let outbox = try fixture.open()
    outbox.pause()
    let receipt = try await outbox.add(Create(title: "x"))
    #expect(receipt.state == .queued)
    let states = receipt.states
    outbox.resume()
    #expect(await receipt.outcome.value?.id == "n1")
    var seen: [OutboxState] = []
    for await state in states { seen.append(state) }
    #expect(seen == [.queued, .sending, .delivered])
    await outbox.close()
  }

  @Test func `entries of a lane are sent in order`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    let receipts = try await Self.add((0..<20).map { Rename(title: "\($0)") }, to: outbox)
    for receipt in receipts { #expect(await receipt.outcome.isDelivered) }
    #expect(fixture.bodies == (0..<20).map { "{\"title\":\"\($0)\"}" })
    await outbox.close()
  }

  private static func add<R: OutboxRequest>(_ requests: [R], to outbox: Outbox) async throws -> [OutboxReceipt<R>] {
    var receipts: [OutboxReceipt<R>] = []
    for request in requests { receipts.append(try await outbox.add(request)) }
    return receipts
  }

  @Test func `stalled lane does not stall others`() async throws {
    let fixture = try OutboxFixture { $0.path == "/notes/1" ? .stall() : .status(204) }
    let outbox = try fixture.open()
    let stalled = try await outbox.add(Rename(note: "1", title: "x"))
    let behind = try await outbox.add(Rename(note: "1", title: "y"))
    let other = try await outbox.add(Rename(note: "2", title: "z"))
    #expect(await other.outcome.isDelivered)
    #expect(try await outbox.reaches(stalled.id, .sending))
    #expect(behind.state == .queued)
    await outbox.close()
  }

  // MARK: - Faults that outboxes of this kind are known for

  @Test func `many events at once resume each entry once and in order`() async throws {
    let fixture = try OutboxFixture()
    let first = try fixture.open()
    first.pause()
    _ = try await Self.add((0..<20).map { Rename(title: "\($0)") }, to: first)
    await first.close()

    let second = try fixture.open()
    for _ in 0..<50 {
      second.resume()
      second.wake()
    }
    #expect(try await until { try await second.summary.waiting == 0 })
    #expect(fixture.bodies == (0..<20).map { "{\"title\":\"\($0)\"}" })
    #expect(Set(fixture.keys).count == 20)
    await second.close()
  }

  @Test func `two outboxes on one folder send each entry once and in order`() async throws {
    let fixture = try OutboxFixture()
    let first = try fixture.open()
    first.pause()
    _ = try await Self.add((0..<10).map { Rename(title: "\($0)") }, to: first)
    let second = try fixture.open()
    _ = try await Self.add((10..<20).map { Rename(title: "\($0)") }, to: second)
    first.resume()
    #expect(try await until { try await first.summary.waiting == 0 })
    #expect(fixture.bodies == (0..<20).map { "{\"title\":\"\($0)\"}" })
    await first.close()
    await second.close()
  }

  @Test func `attempts end and the entry is listed`() async throws {
    let fixture = try OutboxFixture { _ in .status(500) }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Strict(step: 1))
    for attempt in 1...2 {
      #expect(try await outbox.waits(receipt.id, failures: attempt))
      fixture.clock.advance(by: .seconds(300))
    }
    #expect(await receipt.outcome.state == .unknown)
    #expect(fixture.server.requests.count == 3)
    #expect(Set(fixture.keys).count == 1)
    let letters = try await outbox.deadLetters()
    #expect(letters.map(\.id) == [receipt.id])
    #expect(letters.first?.reason?.code == .attempts)
    #expect(letters.first?.reason?.status == 500)
    await outbox.close()
  }

  @Test func `waits between attempts grow`() async throws {
    let fixture = try OutboxFixture { _ in .status(503) }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    fixture.clock.advance(by: .milliseconds(499))
    outbox.wake()
    try await outbox.handleEvents()
    #expect(try await outbox.entry(receipt.id)?.state == .queued)
    #expect(fixture.server.requests.count == 1)
    fixture.clock.advance(by: .milliseconds(501))
    #expect(try await outbox.waits(receipt.id, failures: 2))
    fixture.clock.advance(by: .milliseconds(999))
    try await outbox.handleEvents()
    #expect(try await outbox.entry(receipt.id)?.state == .queued)
    #expect(fixture.server.requests.count == 2)
    await outbox.close()
  }

  @Test func `wait is at least Retry-After`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(429, fields: ["Retry-After": "120"]))
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    fixture.clock.advance(by: .seconds(120))
    try await outbox.handleEvents()
    #expect(try await outbox.entry(receipt.id)?.state == .queued)
    #expect(fixture.server.requests.count == 1)
    fixture.clock.advance(by: .seconds(2))
    #expect(await receipt.outcome.isDelivered)
    await outbox.close()
  }

  // MARK: - Keys

  @Test func `each attempt has the same key`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(500), .status(502))
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    for failures in 1...2 {
      #expect(try await outbox.waits(receipt.id, failures: failures))
      fixture.clock.advance(by: .seconds(10))
    }
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.server.requests.count == 3)
    #expect(Set(fixture.keys).count == 1)
    #expect(try await outbox.entry(receipt.id)?.key == fixture.keys.first)
    await outbox.close()
  }

  @Test func `edit before the first attempt changes the key`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let receipt = try await outbox.add(Rename(title: "x"))
    let old = try await outbox.entry(receipt.id)?.key
    try await outbox.edit(receipt.id, to: Rename(title: "y"))
    #expect(try await outbox.entry(receipt.id)?.key != old)
    outbox.resume()
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.bodies == [#"{"title":"y"}"#])
    await outbox.close()
  }

  @Test func `entry whose fate is unknown cannot be edited`() async throws {
    let fixture = try OutboxFixture { _ in .status(500) }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    let error = await #expect(throws: OutboxError.self) { try await outbox.edit(receipt.id, to: Rename(title: "y")) }
    #expect(error?.code == .state)
    await outbox.close()
  }

  // MARK: - Restarts

  @Test func `stored request is delivered after a restart`() async throws {
    let fixture = try OutboxFixture()
    let first = try fixture.open()
    first.pause()
    let id = try await first.add(Rename(title: "x")).id
    let key = try await first.entry(id)?.key
    await first.close()
    let second = try fixture.open()
    let receipt = try await second.receipt(for: id, of: Rename.self)
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.keys == [key])
    await second.close()
  }

  @Test func `interrupted attempt is repeated with its key`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { $0.number == 1 ? .stall(until: gate) : .status(204) }
    let first = try fixture.open()
    let id = try await first.add(Rename(title: "x")).id
    try await fixture.server.request(number: 1)
    await first.close()
    let second = try fixture.open()
    #expect(try await fixture.advance(second, until: id))
    #expect(fixture.server.requests.count == 2)
    #expect(Set(fixture.keys).count == 1)
    await second.close()
  }

  @Test(arguments: [false, true]) func `restart ends the wait for a connection`(wakes: Bool) async throws {
    let port = try RefusingPort()
    let fixture = try OutboxFixture()
    let base = fixture.client.configuration.servers.current.baseURL
    fixture.client.configure { $0.servers.current.baseURL = port.url }
    let first = try fixture.open()
    let id = try await first.add(Rename(title: "x")).id
    #expect(try await first.waits(id, failures: 1))
    await first.close()
    fixture.client.configure { $0.servers.current.baseURL = base }
    let second = try fixture.open()
    if wakes { second.wake() }
    // The clock does not move, so the wait does not pass.
    #expect(try await second.reaches(id, .delivered))
    await second.close()
  }

  @Test func `restart ends the wait for a login`() async throws {
    let accepts = Locked(false)
    let fixture = try OutboxFixture { _ in accepts.withLock { $0 } ? .status(204) : .status(401) }
    try await fixture.login("ada")
    let first = try fixture.open()
    let id = try await first.add(Rename(title: "x")).id
    #expect(try await first.waits(id, failures: 1))
    await first.close()
    accepts.withLock { $0 = true }
    let second = try fixture.open()
    #expect(try await second.reaches(id, .delivered))
    await second.close()
  }

  @Test func `restart keeps the wait after a status`() async throws {
    let fixture = try OutboxFixture { $0.number == 1 ? .status(503) : .status(204) }
    let first = try fixture.open()
    let id = try await first.add(Rename(title: "x")).id
    #expect(try await first.waits(id, failures: 1))
    await first.close()
    let second = try fixture.open()
    second.wake()
    try await second.handleEvents()
    #expect(try await second.entry(id)?.state == .queued)
    #expect(fixture.server.requests.count == 1)
    #expect(try await fixture.advance(second, until: id))
    await second.close()
  }

  @Test func `closed outbox rejects requests`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    await outbox.close()
    let error = await #expect(throws: OutboxError.self) { try await outbox.add(Rename(title: "x")) }
    #expect(error?.code == .closed)
  }

  @Test func `released receipts use no memory`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    for number in 0..<200 { _ = try await outbox.add(Rename(title: "\(number)")) }
    // The queue may hold the result of its last job for a moment.
    #expect(try await until { outbox.runner.watches.watched.isEmpty })
    await outbox.close()
  }
}
