import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// References to entries that failed or made no identifier, and references that an edit changes.
struct OutboxReferenceTests {
  /// Creates a note, but does not tell its identifier.
  struct Silent: OutboxRequest {
    var title: String
    var path: Path { "/silent" }
    var method: HTTPMethod { .post }
    var outbox: OutboxRule { .lane("silent", title) }
    typealias Response = Nothing
  }

  private static let types = OutboxFixture.types + [Silent.self]

  private static func answer(_ request: RecordedRequest) -> LoopbackAnswer {
    switch request.path {
    case "/notes": .json(#"{"id": "n1"}"#)
    default: .status(204)
    }
  }

  @Test func `placeholder is never sent`() async throws {
    let fixture = try OutboxFixture(Self.answer)
    let outbox = try fixture.open(Self.types)
    outbox.pause()
    let silent = try await outbox.add(Silent(title: "x"))
    let edited = try await outbox.add(Edit(note: silent.reference, text: "y"))
    outbox.resume()
    #expect(await edited.outcome.state == .rejected)
    try await outbox.resend(edited.id)
    #expect(try await outbox.reaches(edited.id, .parked))
    #expect(try await outbox.entry(edited.id)?.reason?.code == .parentFailed)
    #expect(fixture.paths == ["/silent"])
    await outbox.close()
  }

  @Test func `long chain of references is rejected`() async throws {
    let fixture = try OutboxFixture(Self.answer)
    let outbox = try fixture.open(Self.types)
    outbox.pause()
    let count: Int64 = 20_000
    let changed = try await outbox.runner.perform { runner in
      let now = runner.now()
      return try runner.store.transaction {
        for id in 1...count {
          let facts = EntryFacts(
            id: 0, type: "Silent", version: 1, account: "", lane: "\(id)", key: "\(id)", added: now, notBefore: now)
          let new = NewEntry(facts: facts, request: Data(), parents: id == 1 ? [] : [id - 1])
          _ = try runner.store.add(new, at: now)
        }
        _ = try runner.store.apply(.attempt, to: 1, now)
        let rejection = SendVerdict.rejected(OutboxReason(.status, "Status 400.", status: 400))
        return try runner.store.apply(.attempted(rejection, chance: 0), to: 1, now)
      }
    }
    #expect(changed.map(\.id) == Array(1...count))
    #expect(changed.allSatisfy { $0.state == .rejected })
    await outbox.close()
  }

  @Test func `edited child waits for its new parent`() async throws {
    let fixture = try OutboxFixture(Self.answer)
    let outbox = try fixture.open(Self.types)
    outbox.pause()
    let old = try await outbox.add(Silent(title: "x"))
    let new = try await outbox.add(Create(title: "x"))
    let edited = try await outbox.add(Edit(note: old.reference, text: "y"))
    try await outbox.edit(edited.id, to: Edit(note: new.reference, text: "z"))
    outbox.resume()
    #expect(try await outbox.reaches(edited.id, .delivered))
    #expect(fixture.paths.contains("/notes/n1"))
    await outbox.close()
  }

  @Test func `edited child without a parent is sent`() async throws {
    let fixture = try OutboxFixture { $0.path == "/silent" ? .status(400) : .status(204) }
    let outbox = try fixture.open(Self.types)
    outbox.pause()
    let old = try await outbox.add(Silent(title: "x"))
    let edited = try await outbox.add(Edit(note: old.reference, text: "y"))
    outbox.resume()
    #expect(try await outbox.reaches(edited.id, .rejected))
    try await outbox.edit(edited.id, to: Edit(note: "7", text: "z"))
    #expect(try await outbox.reaches(edited.id, .delivered))
    #expect(fixture.paths == ["/silent", "/notes/7"])
    await outbox.close()
  }

  @Test func `edit must refer to an earlier entry`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open(Self.types)
    outbox.pause()
    let edited = try await outbox.add(Edit(note: "7", text: "y"))
    let later = try await outbox.add(Create(title: "x"))
    for reference in [edited.reference, later.reference] {
      let error = await #expect(throws: OutboxError.self) {
        try await outbox.edit(edited.id, to: Edit(note: reference, text: "z"))
      }
      #expect(error?.code == .parent)
    }
    await outbox.close()
  }
}
