import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Conflicts, keys that the server may have forgotten, and references to objects that are not created yet.
struct OutboxDecisionTests {
  /// The decisions that a ``Contested`` request returns, by its title.
  enum Decision: String, Codable, Sendable { case mine, theirs, merged, drop, none, fails }

  struct Contested: OutboxRequest {
    var decision: Decision
    var version = 1
    var path: Path { "/contested" }
    var method: HTTPMethod { .put }
    var arguments: Arguments { ["version": version] }
    typealias Response = Nothing

    struct Failed: Error {}

    func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<Self> {
      var changed = self
      changed.version = version + 1
      switch decision {
      case .mine: return .keepMine(changed)
      case .merged:
        _ = try await scope.send(Rename(title: "read"))
        return .merged(changed)
      case .theirs: return .keepTheirs
      case .drop: return .drop
      case .none: return .unresolved
      case .fails: throw Failed()
      }
    }
  }

  private static let types = OutboxFixture.types + [Contested.self, Reconciled.self]

  private static func conflicting(until version: Int) -> @Sendable (RecordedRequest) -> LoopbackAnswer {
    { request in
      guard request.path == "/contested" else { return .status(204) }
      return request.bodyText == "{\"version\":\(version)}" ? .status(204) : .status(412)
    }
  }

  @Test(arguments: [Decision.mine, .merged])
  func `changed request is sent with a new key`(decision: Decision) async throws {
    let fixture = try OutboxFixture(Self.conflicting(until: 2))
    let outbox = try fixture.open(Self.types)
    let receipt = try await outbox.add(Contested(decision: decision))
    #expect(await receipt.outcome.isDelivered)
    let requests = fixture.server.requests.filter { $0.path == "/contested" }
    #expect(requests.map(\.bodyText) == [#"{"version":1}"#, #"{"version":2}"#])
    #expect(Set(requests.compactMap { $0.headers["Idempotency-Key"] }).count == 2)
    await outbox.close()
  }

  @Test(arguments: [
    (Decision.theirs, OutboxState.cancelled, OutboxReason.Code.keptTheirs), (.drop, .cancelled, .dropped),
    (.none, .rejected, .conflict),
  ])
  func `conflict ends the entry`(decision: Decision, state: OutboxState, code: OutboxReason.Code) async throws {
    let fixture = try OutboxFixture(Self.conflicting(until: 2))
    let outbox = try fixture.open(Self.types)
    let outcome = try await outbox.add(Contested(decision: decision)).outcome
    #expect(outcome.state == state)
    #expect(outcome.reason?.code == code)
    await outbox.close()
  }

  @Test func `endless conflicts park the entry`() async throws {
    let fixture = try OutboxFixture(Self.conflicting(until: 99))
    let outbox = try fixture.open(Self.types)
    let outcome = try await outbox.add(Contested(decision: .mine)).outcome
    #expect(outcome.state == .parked)
    #expect(fixture.server.requests.count == 4)
    await outbox.close()
  }

  /// Resolves each conflict by a reference to the next entry.
  struct Circular: OutboxRequest {
    var note: OutboxReference = "7"
    var path: Path { "/circular/\(note)" }
    var method: HTTPMethod { .put }
    typealias Response = Nothing

    func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<Self> {
      .keepMine(Circular(note: OutboxReference(createdBy: .init(rawValue: conflict.entry.id.rawValue + 1))))
    }
  }

  @Test func `changed request waits for no later entry`() async throws {
    let fixture = try OutboxFixture { $0.path == "/circular/7" ? .status(412) : .status(204) }
    let outbox = try fixture.open(Self.types + [Circular.self])
    outbox.pause()
    let first = try await outbox.add(Circular())
    let second = try await outbox.add(Contested(decision: .none))
    outbox.resume()
    #expect(await first.outcome.reason?.code == .parentFailed)
    #expect(await second.outcome.isDelivered)
    #expect(fixture.paths == ["/circular/7", "/contested"])
    await outbox.close()
  }

  @Test func `failing decision is taken again later`() async throws {
    let fixture = try OutboxFixture(Self.conflicting(until: 2))
    let outbox = try fixture.open(Self.types)
    let receipt = try await outbox.add(Contested(decision: .fails))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    #expect(try await outbox.entry(receipt.id)?.attempts == 1)
    await outbox.close()
  }

  @Test func `failing decision keeps the unknown fate`() async throws {
    let fixture = try OutboxFixture()
    fixture.client.configure { $0.retries = RetryPolicy(attempts: 2, firstDelay: .zero, busyDelay: .zero) }
    fixture.server.enqueue(.status(503), .status(412))
    let outbox = try fixture.open(Self.types)
    let receipt = try await outbox.add(Contested(decision: .fails))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    #expect(fixture.server.requests.count == 2)
    #expect(try await outbox.entry(receipt.id)?.mayHaveBeenSent == true)
    await outbox.close()
  }

  @Test func `attempt in progress is awaited`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(500), .status(409))
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    for failures in 1...2 {
      #expect(try await outbox.waits(receipt.id, failures: failures))
      fixture.clock.advance(by: .seconds(5))
    }
    #expect(await receipt.outcome.isDelivered)
    #expect(Set(fixture.keys).count == 1)
    await outbox.close()
  }

  @Test func `key mismatch parks the entry`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(500), .status(422))
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    fixture.clock.advance(by: .seconds(5))
    #expect(await receipt.outcome.state == .parked)
    #expect(await receipt.outcome.reason?.code == .keyMismatch)
    await outbox.close()
  }

  @Test func `request with an unreadable response keeps its key`() async throws {
    let fixture = try OutboxFixture { _ in .json("[]") }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Create(title: "x"))
    #expect(await receipt.outcome.reason?.code == .response)
    #expect(try await outbox.entry(receipt.id)?.mayHaveBeenSent == true)
    let error = await #expect(throws: OutboxError.self) { try await outbox.edit(receipt.id, to: Create(title: "y")) }
    #expect(error?.code == .state)
    try await outbox.resend(receipt.id)
    #expect(try await until { fixture.server.requests.count == 2 })
    #expect(Set(fixture.keys).count == 1)
    await outbox.close()
  }

  // MARK: - The window of the server

  struct Reconciled: OutboxRequest {
    struct Failed: Error {}
    /// The fate that the server reports; empty if it cannot be determined now.
    static let answers = Locked<[String: OutboxFate]>([:])

    var name: String
    var path: Path { "/reconciled/\(name)" }
    var method: HTTPMethod { .post }
    typealias Response = Nothing

    func reconcile(in scope: OutboxScope) async throws -> OutboxFate {
      guard let fate = Self.answers.withLock({ $0[name] }) else { throw Failed() }
      return fate
    }
  }

  /// Lets an attempt fail with an unknown fate, then lets the window of the server pass.
  private func forgotten(
    _ fixture: OutboxFixture, _ outbox: Outbox, _ name: String
  ) async throws -> OutboxReceipt<Reconciled> {
    let receipt = try await outbox.add(Reconciled(name: name))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    outbox.pause()
    fixture.clock.advance(by: .seconds(86_400))
    outbox.resume()
    return receipt
  }

  @Test func `entry is not resent blindly after the window`() async throws {
    let fixture = try OutboxFixture { _ in .status(500) }
    let outbox = try fixture.open(Self.types)
    Reconciled.answers.withLock { $0["unknown"] = .unknown }
    let receipt = try await forgotten(fixture, outbox, "unknown")
    #expect(await receipt.outcome.state == .unknown)
    #expect(await receipt.outcome.reason?.code == .keyForgotten)
    #expect(fixture.server.requests.count == 1)
    await outbox.close()
  }

  @Test func `request that was carried out ends as delivered`() async throws {
    let fixture = try OutboxFixture { _ in .status(500) }
    let outbox = try fixture.open(Self.types)
    Reconciled.answers.withLock { $0["done"] = .carriedOut() }
    let receipt = try await forgotten(fixture, outbox, "done")
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.server.requests.count == 1)
    await outbox.close()
  }

  @Test func `request that was not carried out gets a new key`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(500))
    let outbox = try fixture.open(Self.types)
    Reconciled.answers.withLock { $0["again"] = .notCarriedOut }
    let receipt = try await forgotten(fixture, outbox, "again")
    #expect(await receipt.outcome.isDelivered)
    #expect(Set(fixture.keys).count == 2)
    await outbox.close()
  }

  @Test func `failing reconciliation is tried again`() async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(500))
    let outbox = try fixture.open(Self.types)
    let receipt = try await forgotten(fixture, outbox, "later")
    #expect(try await outbox.waits(receipt.id, failures: 2))
    Reconciled.answers.withLock { $0["later"] = .carriedOut() }
    fixture.clock.advance(by: .seconds(300))
    #expect(await receipt.outcome.isDelivered)
    #expect(fixture.server.requests.count == 1)
    await outbox.close()
  }

  @Test func `clock that jumps back does not make keys younger`() async throws {
    let fixture = try OutboxFixture { _ in .status(500) }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    outbox.pause()
    fixture.jump.withLock { $0 = -86_400_000 }
    _ = try await outbox.add(Brief(number: 1))
    fixture.clock.advance(by: .seconds(86_400))
    outbox.resume()
    #expect(await receipt.outcome.state == .unknown)
    #expect(fixture.paths.filter { $0 == "/notes/7" }.count == 1)
    await outbox.close()
  }

  @Test func `request that must not be repeated is not repeated`() async throws {
    let fixture = try OutboxFixture { _ in .status(500) }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Plain(number: 1))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    fixture.clock.advance(by: .seconds(5))
    #expect(await receipt.outcome.state == .unknown)
    #expect(fixture.keys == ["none"])
    await outbox.close()
  }

  // MARK: - References

  private static let creating: @Sendable (RecordedRequest) -> LoopbackAnswer = { request in
    request.method == "POST" ? .json(#"{"id": "n 1"}"#) : .status(204)
  }

  @Test func `edit gets the identifier of a queued creation`() async throws {
    let fixture = try OutboxFixture(Self.creating)
    let outbox = try fixture.open()
    outbox.pause()
    let created = try await outbox.add(Create(title: "x"))
    let edited = try await outbox.add(Edit(note: created.reference, text: "y"))
    outbox.resume()
    #expect(await edited.outcome.isDelivered)
    #expect(fixture.paths == ["/notes", "/notes/n%201"])
    let later = try await outbox.add(Edit(note: created.reference, text: "z"))
    #expect(await later.outcome.isDelivered)
    #expect(try await outbox.entry(later.id)?.lane == "note/n%201")
    await outbox.close()
  }

  @Test func `edits keep their order across the creation`() async throws {
    let fixture = try OutboxFixture(Self.creating)
    let outbox = try fixture.open()
    outbox.pause()
    let created = try await outbox.add(Create(title: "x"))
    var receipts: [OutboxReceipt<Edit>] = []
    for number in 0..<5 {
      receipts.append(try await outbox.add(Edit(note: created.reference, text: "\(number)")))
    }
    receipts.append(try await outbox.add(Edit(note: "n 1", text: "5")))
    outbox.resume()
    for receipt in receipts { #expect(await receipt.outcome.isDelivered) }
    let texts = fixture.bodies.filter { $0.contains("text") }
    #expect(texts.filter { !$0.contains("5") } == (0..<5).map { "{\"text\":\"\($0)\"}" })
    await outbox.close()
  }

  @Test func `dependants fail if the creation fails`() async throws {
    let fixture = try OutboxFixture { $0.method == "POST" ? .status(400) : .status(204) }
    let outbox = try fixture.open()
    outbox.pause()
    let created = try await outbox.add(Create(title: "x"))
    let edited = try await outbox.add(Edit(note: created.reference, text: "y"))
    outbox.resume()
    #expect(await edited.outcome.reason?.code == .parentFailed)
    #expect(await created.outcome.state == .rejected)
    let error = await #expect(throws: OutboxError.self) {
      try await outbox.add(Edit(note: created.reference, text: "z"))
    }
    #expect(error?.code == .parent)
    await outbox.close()
  }

  @Test func `resent creation and edit are delivered`() async throws {
    let fixture = try OutboxFixture(Self.creating)
    fixture.server.enqueue(.status(400))
    let outbox = try fixture.open()
    // Otherwise the creation may be rejected before the edit is added, and the edit is refused.
    outbox.pause()
    let created = try await outbox.add(Create(title: "x"))
    let edited = try await outbox.add(Edit(note: created.reference, text: "y"))
    outbox.resume()
    #expect(try await outbox.reaches(edited.id, .rejected))
    try await outbox.resend(edited.id)
    try await outbox.resend(created.id)
    #expect(try await outbox.reaches(edited.id, .delivered))
    #expect(fixture.paths.last == "/notes/n%201")
    await outbox.close()
  }
}
