import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Dead letters, cancellation, coalescing and expiry.
struct OutboxStateTests {
  // MARK: - Dead letters

  @Test func `rejected entry is listed and the lane continues`() async throws {
    let fixture = try OutboxFixture { $0.bodyText.contains("bad") ? .status(400) : .status(204) }
    let outbox = try fixture.open()
    let bad = try await outbox.add(Rename(title: "bad"))
    let good = try await outbox.add(Rename(title: "good"))
    #expect(await bad.outcome.state == .rejected)
    #expect(await bad.outcome.reason?.status == 400)
    #expect(await good.outcome.isDelivered)
    #expect(try await outbox.deadLetters().map(\.id) == [bad.id])
    await outbox.close()
  }

  @Test func `lane stops if declared, until the entry is discarded`() async throws {
    let fixture = try OutboxFixture { $0.path == "/steps/1" ? .status(403) : .status(204) }
    let outbox = try fixture.open()
    let first = try await outbox.add(Strict(step: 1))
    let second = try await outbox.add(Strict(step: 2))
    #expect(await first.outcome.state == .rejected)
    #expect(try await outbox.lanes().map(\.isStopped) == [true])
    #expect(second.state == .queued)
    try await outbox.discard(first.id)
    #expect(await second.outcome.isDelivered)
    #expect(try await outbox.entry(first.id)?.reason?.code == .discarded)
    await outbox.close()
  }

  @Test func `resent entry has a new key and its old place`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(403))
    let outbox = try fixture.open()
    let first = try await outbox.add(Strict(step: 1))
    let second = try await outbox.add(Strict(step: 2))
    #expect(await first.outcome.state == .rejected)
    try await outbox.resend(first.id)
    #expect(await second.outcome.isDelivered)
    #expect(fixture.paths == ["/steps/1", "/steps/1", "/steps/2"])
    #expect(Set(fixture.keys).count == 3)
    await outbox.close()
  }

  @Test func `edited dead letter is sent again`() async throws {
    let fixture = try OutboxFixture { $0.bodyText.contains("bad") ? .status(400) : .status(204) }
    let outbox = try fixture.open()
    let id = try await outbox.add(Rename(title: "bad")).id
    #expect(try await outbox.reaches(id, .rejected))
    try await outbox.edit(id, to: Rename(title: "good"))
    #expect(try await outbox.reaches(id, .delivered))
    await outbox.close()
  }

  @Test func `operations on other states are errors`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    let id = try await outbox.add(Rename(title: "x")).id
    #expect(try await outbox.reaches(id, .delivered))
    for operation in [outbox.resend, outbox.discard] as [(OutboxEntry.ID) async throws -> Void] {
      #expect(await #expect(throws: OutboxError.self) { try await operation(id) }?.code == .state)
      let other = OutboxEntry.ID(rawValue: 99)
      #expect(await #expect(throws: OutboxError.self) { try await operation(other) }?.code == .noEntry)
    }
    #expect(
      await #expect(throws: OutboxError.self) { try await outbox.edit(id, to: Strict(step: 1)) }?.code == .noEntry)
    await outbox.close()
  }

  // MARK: - Cancelling

  @Test func `queued entry is cancelled`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.cancel(receipt.id) == .cancelled)
    #expect(await receipt.outcome.state == .cancelled)
    outbox.resume()
    let later = try await outbox.add(Rename(title: "y"))
    #expect(await later.outcome.isDelivered)
    #expect(fixture.bodies == [#"{"title":"y"}"#])
    #expect(try await outbox.cancel(receipt.id) == .cancelled)
    await outbox.close()
  }

  @Test func `cancelled entry in flight has an unknown fate`() async throws {
    let fixture = try OutboxFixture { $0.bodyText.contains("slow") ? .stall() : .status(204) }
    let outbox = try fixture.open()
    let slow = try await outbox.add(Rename(title: "slow"))
    let next = try await outbox.add(Rename(title: "next"))
    try await fixture.server.request(number: 1)
    #expect(try await outbox.cancel(slow.id) == .unknown)
    #expect(await slow.outcome.reason?.code == .cancelled)
    #expect(await next.outcome.isDelivered)
    #expect(try await outbox.deadLetters().map(\.state) == [.unknown])
    await outbox.close()
  }

  // MARK: - Coalescing

  @Test func `later entry replaces a queued one`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let first = try await outbox.add(Note(text: "a"))
    let second = try await outbox.add(Note(text: "b"))
    #expect(await first.outcome.reason?.code == .superseded)
    outbox.resume()
    #expect(await second.outcome.isDelivered)
    #expect(fixture.bodies == [#"{"text":"b"}"#])
    await outbox.close()
  }

  @Test func `entry that may have been sent is never replaced`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { $0.number == 1 ? LoopbackAnswer.status(204).held(at: gate) : .status(204) }
    let outbox = try fixture.open()
    let first = try await outbox.add(Note(text: "a"))
    try await fixture.server.request(number: 1)
    let second = try await outbox.add(Note(text: "b"))
    gate.open()
    #expect(await first.outcome.isDelivered)
    #expect(await second.outcome.isDelivered)
    #expect(fixture.bodies == [#"{"text":"a"}"#, #"{"text":"b"}"#])
    await outbox.close()
  }

  @Test func `entry before one of another type is not replaced`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open(OutboxFixture.types + [Mark.self])
    outbox.pause()
    _ = try await outbox.add(Note(text: "a"))
    _ = try await outbox.add(Mark())
    _ = try await outbox.add(Note(text: "b"))
    let last = try await outbox.add(Note(text: "c"))
    outbox.resume()
    #expect(await last.outcome.isDelivered)
    #expect(fixture.paths == ["/text", "/mark", "/text"])
    #expect(fixture.bodies == [#"{"text":"a"}"#, "", #"{"text":"c"}"#])
    await outbox.close()
  }

  @Test func `creation with dependants is not replaced`() async throws {
    let fixture = try OutboxFixture { $0.method == "POST" ? .json(#"{"id": "n1"}"#) : .status(204) }
    let outbox = try fixture.open(OutboxFixture.types + [Draft.self])
    outbox.pause()
    let first = try await outbox.add(Draft(text: "a"))
    let child = try await outbox.add(Edit(note: first.reference, text: "y"))
    _ = try await outbox.add(Draft(text: "b"))
    outbox.resume()
    #expect(await child.outcome.isDelivered)
    #expect(try await outbox.reaches(first.id, .delivered))
    await outbox.close()
  }

  @Test func `a cancelled dependant prevents no replacement`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open(OutboxFixture.types + [Draft.self])
    outbox.pause()
    let first = try await outbox.add(Draft(text: "a"))
    let child = try await outbox.add(Edit(note: first.reference, text: "y"))
    #expect(try await outbox.cancel(child.id) == .cancelled)
    _ = try await outbox.add(Draft(text: "b"))
    #expect(try await outbox.entry(first.id)?.reason?.code == .superseded)
    await outbox.close()
  }

  @Test func `nothing is replaced in the common lane`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open(OutboxFixture.types + [Draft.self])
    outbox.pause()
    _ = try await outbox.add(Draft(text: "a", lane: nil))
    _ = try await outbox.add(Draft(text: "b", lane: nil))
    #expect(try await outbox.summary.counts == [.queued: 2])
    await outbox.close()
  }

  /// Another request in the lane of ``Note``.
  struct Mark: OutboxRequest {
    var path: Path { "/mark" }
    var method: HTTPMethod { .post }
    var outbox: OutboxRule { .lane("text") }
    typealias Response = Nothing
  }

  /// A creation that replaces earlier ones of its lane.
  struct Draft: OutboxRequest {
    var text: String
    var lane: String? = "drafts"
    var path: Path { "/drafts" }
    var method: HTTPMethod { .post }
    var outbox: OutboxRule { (lane.map { .lane($0) } ?? OutboxRule()).supersedes() }
    func createdID(from response: Response) -> String? { response.id }
    struct Response: Decodable, Sendable { let id: String }
  }

  @Test func `creation and deletion cancel out`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let created = try await outbox.add(Create(title: "x"))
    let edited = try await outbox.add(Edit(note: created.reference, text: "y"))
    let deleted = try await outbox.add(Delete(note: created.reference))
    for reason in [await created.outcome.reason, await edited.outcome.reason, await deleted.outcome.reason] {
      #expect(reason?.code == .cancelledOut)
    }
    outbox.resume()
    #expect(try await outbox.summary.waiting == 0)
    #expect(fixture.server.requests.isEmpty)
    await outbox.close()
  }

  @Test func `creation in flight does not cancel out`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { request in
      request.method == "POST" ? LoopbackAnswer.json(#"{"id": "n1"}"#).held(at: gate) : .status(204)
    }
    let outbox = try fixture.open()
    let created = try await outbox.add(Create(title: "x"))
    try await fixture.server.request(number: 1)
    let deleted = try await outbox.add(Delete(note: created.reference))
    gate.open()
    #expect(await deleted.outcome.isDelivered)
    #expect(fixture.paths == ["/notes", "/notes/n1"])
    await outbox.close()
  }

  // MARK: - Expiry

  @Test func `old entry expires and is listed`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let receipt = try await outbox.add(Brief(number: 1))
    #expect(await fixture.clock.waitForTimers(1))
    fixture.clock.advance(by: .seconds(3_600))
    #expect(await receipt.outcome.state == .expired)
    #expect(try await outbox.deadLetters().map(\.id) == [receipt.id])
    try await outbox.resend(receipt.id)
    outbox.resume()
    #expect(try await outbox.reaches(receipt.id, .delivered))
    await outbox.close()
  }

  @Test func `clock that is set back delays nothing`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(503))
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    fixture.jump.withLock { $0 = -31_536_000_000 }
    _ = try await outbox.add(Brief(number: 1))
    fixture.clock.advance(by: .seconds(3))
    #expect(await receipt.outcome.isDelivered)
    await outbox.close()
  }

  // MARK: - Unreachable servers

  @Test func `offline attempts do not count and pause the outbox`() async throws {
    let port = try RefusingPort()
    let fixture = try OutboxFixture()
    let base = fixture.client.configuration.servers.current.baseURL
    fixture.client.configure { $0.servers.current.baseURL = "http://127.0.0.1:\(port.port)" }
    let outbox = try fixture.open()
    let receipts = [
      try await outbox.add(Rename(note: "1", title: "x")), try await outbox.add(Rename(note: "2", title: "y")),
    ]
    #expect(try await outbox.waits(receipts[0].id, failures: 1))
    #expect(try await outbox.entry(receipts[0].id)?.attempts == 0)
    #expect(try await outbox.entry(receipts[0].id)?.mayHaveBeenSent == false)
    fixture.client.configure { $0.servers.current.baseURL = base }
    outbox.wake()
    for receipt in receipts { #expect(await receipt.outcome.isDelivered) }
    await outbox.close()
  }

  @Test func `event during an attempt repeats it at once`() async throws {
    let port = try RefusingPort()
    let latch = Latch()
    let fixture = try OutboxFixture()
    let base = fixture.client.configuration.servers.current.baseURL
    fixture.client.configure {
      $0.servers.current.baseURL = port.url
      $0.interceptors.calls.append(Holding(latch: latch))
    }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(await latch.reached())
    fixture.client.configure { $0.servers.current.baseURL = base }
    outbox.wake()
    try await outbox.handleEvents()
    latch.open()
    #expect(await receipt.outcome.isDelivered)
    await outbox.close()
  }
}
