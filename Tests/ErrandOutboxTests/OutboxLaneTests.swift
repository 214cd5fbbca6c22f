import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Which entry is the first of its lane, and which entries cancel out.
struct OutboxLaneTests {
  private static let now = WallTime(milliseconds: 1_900_000_000_000)

  /// The entries that may be sent now, by the store.
  private static func heads(_ outbox: Outbox) async throws -> [Int64] {
    try await outbox.runner.perform { try $0.store.heads(of: "", limit: 9).entries.map(\.id) }
  }

  private static func apply(_ events: [EntryEvent], to id: Int64, made: String? = nil, _ outbox: Outbox) async throws {
    try await outbox.runner.perform { runner in
      try runner.store.transaction {
        for event in events { _ = try runner.store.apply(event, to: id, now, delivery: .init(made: made)) }
      }
    }
  }

  private static let rejection: [EntryEvent] = [
    .attempt, .attempted(.rejected(OutboxReason(.status, "Status 400.", status: 400)), chance: 0),
  ]

  // MARK: - Order

  @Test func `resent entry is the only head of its lane`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let first = try await outbox.add(Rename(title: "a"))
    let second = try await outbox.add(Rename(title: "b"))
    try await Self.apply(Self.rejection, to: first.id.rawValue, outbox)
    #expect(try await Self.heads(outbox) == [second.id.rawValue])
    try await outbox.resend(first.id)
    #expect(try await Self.heads(outbox) == [first.id.rawValue])
    outbox.resume()
    #expect(try await outbox.reaches(second.id, .delivered))
    #expect(fixture.bodies == [#"{"title":"a"}"#, #"{"title":"b"}"#])
    await outbox.close()
  }

  @Test func `entry that moves into a lane is its only head`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open()
    outbox.pause()
    let created = try await outbox.add(Create(title: "x"))
    let earlier = try await outbox.add(Edit(note: created.reference, text: "y"))
    let later = try await outbox.add(Edit(note: "n1", text: "z"))
    #expect(try await Self.heads(outbox) == [created.id.rawValue, later.id.rawValue])
    try await Self.apply(
      [.attempt, .attempted(.delivered, chance: 0)], to: created.id.rawValue, made: "n1", outbox)
    #expect(try await Self.heads(outbox) == [earlier.id.rawValue])
    await outbox.close()
  }

  // MARK: - Replacing

  /// Makes an object that may be below another object of the same type and lane.
  struct Branch: OutboxRequest {
    var name: String
    var parent: OutboxReference?
    var path: Path { "/branches/\(name)" }
    var method: HTTPMethod { .put }
    var outbox: OutboxRule { .lane("branches").supersedes() }
    func createdID(from response: Response) -> String? { name }
    typealias Response = Nothing
  }

  @Test func `entry to which a later one refers stays`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open([Branch.self])
    outbox.pause()
    let parent = try await outbox.add(Branch(name: "a"))
    let child = try await outbox.add(Branch(name: "b", parent: parent.reference))
    outbox.resume()
    #expect(try await outbox.reaches(parent.id, .delivered))
    #expect(try await outbox.reaches(child.id, .delivered))
    #expect(fixture.paths == ["/branches/a", "/branches/b"])
    await outbox.close()
  }

  // MARK: - Cancelling out

  /// Makes an object whose identifier the app chooses.
  struct Make: OutboxRequest {
    var name: String
    var lane: String?
    var path: Path { "/made/\(name)" }
    var method: HTTPMethod { .put }
    var outbox: OutboxRule { lane.map { .lane($0) } ?? OutboxRule() }
    func createdID(from response: Response) -> String? { name }
    typealias Response = Nothing
  }

  /// Removes an object of ``Make``.
  struct Unmake: OutboxRequest {
    var name: OutboxReference
    var lane: String?
    var path: Path { "/made/\(name)" }
    var method: HTTPMethod { .delete }
    var outbox: OutboxRule { (lane.map { .lane($0) } ?? OutboxRule()).cancelsOut(Make.self) }
    typealias Response = Nothing
  }

  private static func waiting(_ fixture: OutboxFixture, _ fill: (Outbox) async throws -> Void) async throws -> [Int64] {
    let outbox = try fixture.open(OutboxFixture.types + [Make.self, Unmake.self])
    outbox.pause()
    try await fill(outbox)
    let left = try await outbox.entries().map(\.id.rawValue)
    await outbox.close()
    return left
  }

  @Test func `deletion in the common lane keeps other creations`() async throws {
    let left = try await Self.waiting(try OutboxFixture()) { outbox in
      _ = try await outbox.add(Make(name: "other"))
      _ = try await outbox.add(Unmake(name: "7"))
    }
    #expect(left == [1, 2])
  }

  @Test func `reference cancels out only what refers to it`() async throws {
    let left = try await Self.waiting(try OutboxFixture()) { outbox in
      let made = try await outbox.add(Make(name: "7", lane: "made 7"))
      _ = try await outbox.add(Edit(note: made.reference, text: "child in another lane"))
      _ = try await outbox.add(Rename(title: "other"))
      _ = try await outbox.add(Unmake(name: made.reference, lane: "removals"))
    }
    #expect(left == [3])
  }

  @Test(arguments: [("all", "all"), ("made 7", "all"), ("all", "removals")])
  func `other entry in a lane keeps creation and deletion`(creation: String, deletion: String) async throws {
    let left = try await Self.waiting(try OutboxFixture()) { outbox in
      let made = try await outbox.add(Make(name: "7", lane: creation))
      _ = try await outbox.add(Make(name: "other", lane: "all"))
      _ = try await outbox.add(Unmake(name: made.reference, lane: deletion))
    }
    #expect(left == [1, 2, 3])
  }

  @Test func `creation of another account stays`() async throws {
    let fixture = try OutboxFixture()
    try await fixture.login("ada")
    let left = try await Self.waiting(fixture) { outbox in
      let made = try await outbox.add(Make(name: "7", lane: "made 7"))
      try await fixture.login("bo")
      _ = try await outbox.add(Unmake(name: made.reference, lane: "removals"))
    }
    #expect(left == [1, 2])
  }

  @Test func `lane of one object cancels out`() async throws {
    let left = try await Self.waiting(try OutboxFixture()) { outbox in
      _ = try await outbox.add(Make(name: "7", lane: "made 7"))
      _ = try await outbox.add(Make(name: "8", lane: "made 8"))
      _ = try await outbox.add(Unmake(name: "7", lane: "made 7"))
    }
    #expect(left == [2])
  }

  @Test func `two creations in a lane do not cancel out`() async throws {
    let left = try await Self.waiting(try OutboxFixture()) { outbox in
      _ = try await outbox.add(Make(name: "7", lane: "made"))
      _ = try await outbox.add(Make(name: "8", lane: "made"))
      _ = try await outbox.add(Unmake(name: "7", lane: "made"))
    }
    #expect(left == [1, 2, 3])
  }
}
