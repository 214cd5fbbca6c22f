import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Faults of one entry, one lane, one key or one process, which must not stop the others.
struct OutboxFaultTests {
  private static let offline = SendVerdict.retry(
    .init(reason: OutboxReason(.offline, "Refused."), mayHaveBeenCarriedOut: false, counts: false))
  private static let minutes = BackOff(first: 60_000)

  // MARK: - Lanes

  @Test func `lane without a login delays no other lane`() async throws {
    let fixture = try OutboxFixture { $0.path == "/steps/1" ? .status(401) : .status(204) }
    try await fixture.login("ada")
    let outbox = try fixture.open()
    let bad = try await outbox.add(Strict(step: 1)).id
    let hasFailed = try await until {
      let facts = try await outbox.runner.perform { try $0.store.facts(of: bad.rawValue) }
      guard let facts, facts.state == .queued else { return false }
      if facts.failures < 8 { fixture.clock.advance(by: .seconds(1)) }
      return facts.failures >= 8
    }
    #expect(hasFailed)
    let good = try await outbox.add(Rename(title: "x")).id
    #expect(try await outbox.reaches(good, .delivered))
    #expect(try await outbox.entry(bad)?.state == .queued)
    await outbox.close()
  }

  @Test func `many failed lanes hide no probe`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    for number in 1...9 { _ = try await outbox.add(Rename(note: "\(number)", title: "x")) }
    try await outbox.runner.perform { runner in
      try runner.store.run("UPDATE entry SET failures=1")
      runner.hold.learn(from: Self.offline, at: runner.now(), chance: 1, Self.minutes)
    }
    let good = try await outbox.add(Rename(note: "good", title: "x")).id
    outbox.resume()
    #expect(try await outbox.reaches(good, .delivered))
    #expect(fixture.paths.first == "/notes/good")
    await outbox.close()
  }

  /// Leaves each conflict to the server.
  struct Yielding: OutboxRequest {
    var path: Path { "/yielding" }
    var method: HTTPMethod { .put }
    typealias Response = Nothing

    func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<Yielding> {
      .keepTheirs
    }
  }

  @Test func `resolved conflict ends the pause`() async throws {
    let fixture = try OutboxFixture { $0.path == "/yielding" ? .status(412) : .status(204) }
    let outbox = try fixture.open(OutboxFixture.types + [Yielding.self])
    outbox.pause()
    let probe = try await outbox.add(Yielding()).id
    let next = try await outbox.add(Rename(title: "x")).id
    try await outbox.runner.perform { $0.hold.learn(from: Self.offline, at: $0.now(), chance: 1, Self.minutes) }
    outbox.resume()
    #expect(try await outbox.reaches(probe, .cancelled))
    #expect(try await outbox.reaches(next, .delivered))
    await outbox.close()
  }

  // MARK: - Processes

  @Test func `lease that cannot be opened is reported`() async throws {
    let lines = Locked<[String]>([])
    let fixture = try OutboxFixture()
    fixture.client.configure { $0.log = { line in lines.withLock { $0.append(line.text) } } }
    let lease = fixture.folder.appending(path: "errand-outbox.lease")
    try FileManager.default.createDirectory(
      at: lease, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    chmod(fixture.folder.path, 0o700)
    let outbox = try fixture.open()
    _ = try await outbox.add(Rename(title: "x"))
    #expect(try await until { lines.withLock { $0.contains { $0.contains("errand-outbox.lease” cannot be opened") } } })
    #expect(fixture.server.requests.isEmpty)
    await outbox.close()
  }

  @Test func `logout waits for the process that sends`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { _ in LoopbackAnswer.status(204).held(at: gate) }
    try await fixture.login("ada")
    let sender = try fixture.open()
    _ = try await sender.add(Rename(title: "x"))
    try await fixture.server.request(number: 1)
    let other = try fixture.open()
    try await other.handleEvents()
    let pending = fixture.clock.pending
    let left = Locked<Int?>(nil)
    let drain = Task {
      let count = try await other.prepareLogout(of: "ada", .sendFirst(within: .seconds(1_000_000_000)))
      left.withLock { $0 = count }
    }
    defer { drain.cancel() }
    #expect(try await until { fixture.clock.pending > pending })
    gate.open()
    #expect(try await until { try await sender.summary.waiting == 0 })
    let isOver = try await until {
      fixture.clock.advance(by: .seconds(1))
      return left.withLock { $0 } != nil
    }
    #expect(isOver)
    #expect(left.withLock { $0 } == 0)
    await other.close()
    await sender.close()
  }
}
