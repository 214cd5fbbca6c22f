import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandOutbox

/// Entries whose rows the database can neither read nor change, because a part of its file is damaged.
struct OutboxDamageTests {
  /// The text of a row that needs overflow pages.
  private static let long = String(repeating: "z", count: 100_000)

  /// Stops its lane, and may be large.
  private struct Large: OutboxRequest {
    var text: String
    var path: Path { "/large" }
    var method: HTTPMethod { .post }
    var outbox: OutboxRule { .lane("large").stopsLaneOnFailure() }
    typealias Response = Nothing
  }

  private struct LargeCreate: OutboxRequest {
    var text: String
    var path: Path { "/notes" }
    var method: HTTPMethod { .post }
    func createdID(from response: Create.Response) -> String? { response.id }
    typealias Response = Create.Response
  }

  private static func open(_ fixture: OutboxFixture) throws -> Outbox {
    try fixture.open(OutboxFixture.types + [Large.self, LargeCreate.self])
  }

  private static func database(_ fixture: OutboxFixture) -> URL {
    fixture.folder.appending(path: "errand-outbox.sqlite")
  }

  /// Adds entries with an outbox that sends nothing, and closes it. The whole database is then in its file.
  private static func fill(_ fixture: OutboxFixture, _ add: (Outbox) async throws -> Void) async throws {
    let outbox = try open(fixture)
    outbox.pause()
    try await add(outbox)
    try await outbox.runner.perform { try $0.store.database.run("PRAGMA wal_checkpoint(TRUNCATE)") }
    await outbox.close()
  }

  /// A folder with a long row between two short ones of a lane, and a row of another lane. The long row is damaged.
  private static func damaged(_ fixture: OutboxFixture) async throws -> DatabaseDamage {
    try await fill(fixture) { outbox in
      for title in ["first", long, "last"] { _ = try await outbox.add(Rename(note: "1", title: title)) }
      _ = try await outbox.add(Rename(note: "2", title: "good"))
    }
    var damage = DatabaseDamage(database(fixture))
    try damage.breakOverflow(of: 0x7a)
    #expect(damage.count > 10)
    return damage
  }

  private static func id(_ number: Int64) -> OutboxEntry.ID { OutboxEntry.ID(rawValue: number) }

  // MARK: - One row

  @Test func `damaged row is a dead letter`() async throws {
    let lines = Locked<[String]>([])
    let fixture = try OutboxFixture()
    fixture.client.configure { $0.log = { line in lines.withLock { $0.append(line.text) } } }
    _ = try await Self.damaged(fixture)
    let outbox = try Self.open(fixture)
    let receipt: OutboxReceipt<Rename> = try await outbox.receipt(for: Self.id(2))
    #expect(await receipt.outcome.state == .parked)
    let entry = try #require(try await outbox.deadLetters().first)
    #expect(entry.id == Self.id(2))
    #expect(entry.state == .parked && !entry.mayHaveBeenSent)
    #expect(entry.type == "Rename" && entry.lane == "note/1")
    #expect(entry.reason?.code == .damaged)
    #expect(entry.reason?.message.hasPrefix("Entry 2 is damaged: a part of the database file") == true)
    #expect(try await outbox.entry(Self.id(2)) == entry)
    for good in [1, 3, 4] as [Int64] { #expect(try await outbox.reaches(Self.id(good), .delivered)) }
    #expect(fixture.paths.filter { $0 == "/notes/1" }.count == 2)
    #expect(fixture.bodies.filter { $0 != #"{"title":"good"}"# } == [#"{"title":"first"}"#, #"{"title":"last"}"#])
    #expect(try await outbox.deadLetters() == [entry])
    #expect(try await outbox.entries().isEmpty)
    #expect(try await outbox.summary.counts == [.delivered: 3, .parked: 1])
    #expect(try await outbox.lanes().isEmpty)
    #expect(lines.withLock { $0.filter { $0.contains("entry 2 (Rename) is parked: damaged") } }.count == 1)
    await outbox.close()
  }

  @Test func `other process lists a damaged row`() async throws {
    let fixture = try OutboxFixture()
    _ = try await Self.damaged(fixture)
    // Before any process has noticed the damage.
    let files = try OutboxFiles(fixture.folder)
    let all = try files.entries(in: OutboxState.allCases, after: nil, limit: 100)
    #expect(all.map(\.id.rawValue) == [1, 2, 3, 4])
    #expect(all.map(\.state) == [.queued, .parked, .queued, .queued])
    let shown = try files.entry(Self.id(2))
    #expect(shown.entry == all[1] && shown.json == nil)
    #expect(#expect(throws: OutboxError.self) { try files.resend(Self.id(2)) }?.code == .unreadable)
    let outbox = try Self.open(fixture)
    #expect(try await outbox.reaches(Self.id(2), .parked))
    await outbox.close()
    #expect(try OutboxFiles(fixture.folder).entries(in: [.parked], after: nil, limit: 100).map(\.id) == [Self.id(2)])
  }

  @Test func `discarded damaged entry stays discarded`() async throws {
    let fixture = try OutboxFixture()
    _ = try await Self.damaged(fixture)
    let first = try Self.open(fixture)
    #expect(try await first.reaches(Self.id(2), .parked))
    try await first.discard(Self.id(2))
    #expect(try await first.deadLetters().isEmpty)
    #expect(try await first.entry(Self.id(2))?.state == .cancelled)
    await first.close()
    let second = try Self.open(fixture)
    #expect(try await fixture.advance(second, until: Self.id(3)))
    #expect(try await second.deadLetters().isEmpty)
    #expect(try await second.entry(Self.id(2))?.reason?.code == .discarded)
    await second.close()
  }

  @Test func `unnoticed damaged entry can be discarded`() async throws {
    let fixture = try OutboxFixture()
    _ = try await Self.damaged(fixture)
    let files = try OutboxFiles(fixture.folder)
    try files.discard(Self.id(2))
    #expect(try files.entry(Self.id(2)).entry.state == .cancelled)
    #expect(try files.entries(in: [.queued], after: nil, limit: 9).map(\.id.rawValue) == [1, 3, 4])
  }

  @Test func `damaged entry is not resent or edited`() async throws {
    let fixture = try OutboxFixture()
    _ = try await Self.damaged(fixture)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let edit = await #expect(throws: OutboxError.self) {
      try await outbox.edit(Self.id(2), to: Rename(note: "1", title: "y"))
    }
    #expect(edit?.code == .unreadable)
    // The edit has found the damage.
    #expect(try await outbox.deadLetters().map(\.id) == [Self.id(2)])
    #expect(await #expect(throws: OutboxError.self) { try await outbox.resend(Self.id(2)) }?.code == .unreadable)
    #expect(try await outbox.cancel(Self.id(2)) == .parked)
    #expect(try await outbox.deadLetters().map(\.id) == [Self.id(2)])
    await outbox.close()
  }

  @Test func `entry is resent after the file was repaired`() async throws {
    let fixture = try OutboxFixture()
    let damage = try await Self.damaged(fixture)
    let first = try Self.open(fixture)
    #expect(try await first.reaches(Self.id(2), .parked))
    for good in [3, 4] as [Int64] { #expect(try await first.reaches(Self.id(good), .delivered)) }
    await first.close()
    try damage.repair()
    let second = try Self.open(fixture)
    #expect(try await second.deadLetters().map(\.id) == [Self.id(2)])
    try await second.resend(Self.id(2))
    #expect(try await second.reaches(Self.id(2), .delivered))
    #expect(fixture.paths.filter { $0 == "/notes/1" }.count == 3)
    #expect(try await second.summary.counts == [.delivered: 4])
    await second.close()
  }

  @Test(arguments: [(true, OutboxState.queued), (false, .cancelled)])
  func `tool decides about a repaired entry`(resends: Bool, state: OutboxState) async throws {
    let fixture = try OutboxFixture()
    let damage = try await Self.damaged(fixture)
    let outbox = try Self.open(fixture)
    #expect(try await outbox.reaches(Self.id(2), .parked))
    #expect(try await outbox.reaches(Self.id(3), .delivered))
    await outbox.close()
    try damage.repair()
    let files = try OutboxFiles(fixture.folder)
    if resends { try files.resend(Self.id(2)) } else { try files.discard(Self.id(2)) }
    #expect(try files.entry(Self.id(2)).entry.state == state)
  }

  @Test(arguments: [(200, OutboxState.delivered), (204, .parked)])
  func `restored entry knows the end of its parent`(status: Int, state: OutboxState) async throws {
    let fixture = try OutboxFixture { request in
      request.method == "PUT" ? .status(204) : .json(status == 200 ? #"{"id": "n1"}"# : #"{"id": null}"#)
    }
    let types: [any OutboxRequest.Type] = [Made.self, Edit.self]
    let outbox = try fixture.open(types)
    outbox.pause()
    let created = try await outbox.add(Made())
    _ = try await outbox.add(Edit(note: created.reference, text: Self.long))
    try await outbox.runner.perform { try $0.store.database.run("PRAGMA wal_checkpoint(TRUNCATE)") }
    await outbox.close()
    var damage = DatabaseDamage(Self.database(fixture))
    try damage.breakOverflow(of: 0x7a)
    let first = try fixture.open(types)
    #expect(try await first.reaches(created.id, .delivered))
    #expect(try await first.reaches(Self.id(2), .parked))
    try await first.runner.perform { try $0.store.database.run("PRAGMA wal_checkpoint(TRUNCATE)") }
    await first.close()
    try damage.repair()
    let second = try fixture.open(types)
    try await second.resend(Self.id(2))
    #expect(try await second.reaches(Self.id(2), state))
    #expect(try await second.entry(Self.id(2))?.reason?.code == (state == .parked ? .parentFailed : nil))
    await second.close()
  }

  /// A creation whose response may contain no identifier.
  private struct Made: OutboxRequest {
    var path: Path { "/notes" }
    var method: HTTPMethod { .post }
    var outbox: OutboxRule { .lane("new") }
    func createdID(from response: Response) -> String? { response.id }
    struct Response: Decodable, Sendable { let id: String? }
  }

  @Test func `damaged entry stops its lane by its rule`() async throws {
    let fixture = try OutboxFixture()
    try await Self.fill(fixture) { outbox in
      for text in [Self.long, "next"] { _ = try await outbox.add(Large(text: text)) }
    }
    var damage = DatabaseDamage(Self.database(fixture))
    try damage.breakOverflow(of: 0x7a)
    let outbox = try Self.open(fixture)
    #expect(try await outbox.reaches(Self.id(1), .parked))
    try await outbox.handleEvents()
    #expect(try await outbox.lanes().map(\.isStopped) == [true])
    #expect(fixture.server.requests.isEmpty)
    try await outbox.discard(Self.id(1))
    #expect(try await outbox.reaches(Self.id(2), .delivered))
    await outbox.close()
  }

  @Test func `entry that needs a damaged one is rejected with its end`() async throws {
    let fixture = try OutboxFixture()
    try await Self.fill(fixture) { outbox in
      let created = try await outbox.add(LargeCreate(text: Self.long))
      _ = try await outbox.add(Edit(note: created.reference, text: "x"))
    }
    var damage = DatabaseDamage(Self.database(fixture))
    try damage.breakOverflow(of: 0x7a)
    let outbox = try Self.open(fixture)
    #expect(try await outbox.reaches(Self.id(1), .parked))
    #expect(try await outbox.entry(Self.id(2))?.state == .queued)
    try await outbox.discard(Self.id(1))
    #expect(try await outbox.entry(Self.id(2))?.reason?.code == .parentFailed)
    await outbox.close()
  }

  @Test func `damaged index loses no entry`() async throws {
    let fixture = try OutboxFixture()
    try await Self.fill(fixture) { outbox in
      // The title is a part of the lane, so the only page of the index of the lanes is damaged, too.
      _ = try await outbox.add(Create(title: Self.long))
      _ = try await outbox.add(Rename(title: "good"))
    }
    var damage = DatabaseDamage(Self.database(fixture))
    try damage.breakOverflow(of: 0x7a)
    let outbox = try Self.open(fixture)
    #expect(try await outbox.reaches(Self.id(1), .unknown))
    #expect(try await outbox.reaches(Self.id(2), .parked))
    let error = await #expect(throws: OutboxError.self) { try await outbox.discard(Self.id(1)) }
    #expect(error?.code == .damaged)
    #expect(try await outbox.deadLetters().map(\.id.rawValue) == [1, 2])
    #expect(fixture.server.requests.isEmpty)
    await outbox.close()
  }

  // MARK: - A page of rows

  /// A folder with 60 entries in lanes of their own. A page with the rows of some of them is unreadable.
  private static func damagedPage(_ fixture: OutboxFixture, text: String = "title 20,") async throws {
    try await fill(fixture) { outbox in
      for number in 1...60 { _ = try await outbox.add(Rename(note: "\(number)", title: "title \(number),")) }
    }
    var damage = DatabaseDamage(database(fixture))
    try damage.breakLeaf(with: text)
    #expect(damage.count == 1)
  }

  /// All dead letters, in pages.
  private static func pages(_ outbox: Outbox) async throws -> [OutboxEntry] {
    var found: [OutboxEntry] = []
    while true {
      let page = try await outbox.deadLetters(after: found.last?.id, limit: 3)
      found += page
      if page.count < 3 { return found }
    }
  }

  @Test func `unreadable page loses no entry`() async throws {
    let fixture = try OutboxFixture()
    try await Self.damagedPage(fixture)
    let outbox = try Self.open(fixture)
    #expect(try await until { try await outbox.summary.waiting == 0 })
    let dead = try await Self.pages(outbox)
    #expect(dead.count > 5 && dead.count < 40)
    // Whether these entries were sent cannot be read.
    #expect(dead.allSatisfy { $0.state == .unknown && $0.mayHaveBeenSent && $0.reason?.code == .damaged })
    #expect(dead.allSatisfy { $0.lane == "note/\($0.id)" })
    let delivered = fixture.paths.compactMap { Int64($0.dropFirst("/notes/".count)) }
    #expect((delivered + dead.map(\.id.rawValue)).sorted() == Array(1...60))
    #expect(try await outbox.summary.counts == [.delivered: delivered.count, .unknown: dead.count])
    #expect(try await outbox.lanes().map(\.isStopped) == dead.map { _ in true })
    await outbox.close()
    let files = try OutboxFiles(fixture.folder)
    #expect(try files.entries(in: OutboxState.allCases, after: nil, limit: 100).map(\.id.rawValue) == Array(1...60))
  }

  @Test func `unreadable page is listed by another process`() async throws {
    let fixture = try OutboxFixture()
    try await Self.damagedPage(fixture)
    let files = try OutboxFiles(fixture.folder)
    let all = try files.entries(in: [.queued, .unknown], after: nil, limit: 100)
    #expect(all.map(\.id.rawValue) == Array(1...60))
    let dead = all.filter { $0.state == .unknown }
    #expect(dead.count > 5)
    #expect(#expect(throws: OutboxError.self) { try files.entry(Self.id(99)) }?.code == .noEntry)
    for entry in dead { try files.discard(entry.id) }
    #expect(try files.entries(in: [.unknown], after: nil, limit: 100).isEmpty)
    #expect(try files.entries(in: [.cancelled], after: nil, limit: 100).count == dead.count)
  }

  @Test func `logout discards the entries of an unreadable page`() async throws {
    let fixture = try OutboxFixture()
    try await fixture.login("ada")
    try await Self.damagedPage(fixture)
    // An outbox may send before it pauses, so the account is logged out before the outbox opens.
    try await fixture.accounts.logout()
    let outbox = try Self.open(fixture)
    #expect(try await outbox.prepareLogout(of: "ada", .discard) == 0)
    #expect(try await outbox.summary.counts == [.cancelled: 60])
    await outbox.close()
  }

  @Test func `account of an unreadable page waits for nothing`() async throws {
    let fixture = try OutboxFixture()
    try await fixture.login("ada")
    try await Self.damagedPage(fixture)
    let outbox = try Self.open(fixture)
    #expect(try await until { try await outbox.prepareLogout(of: "ada", .keep) == 0 })
    #expect(try await outbox.deadLetters().allSatisfy { $0.account == "ada" })
    await outbox.close()
  }

  @Test func `lane of an unreadable row takes further entries`() async throws {
    let fixture = try OutboxFixture()
    try await Self.fill(fixture) { outbox in
      _ = try await outbox.add(Note(text: "unreadable,"))
      for number in 1...60 { _ = try await outbox.add(Rename(note: "\(number)", title: "x")) }
    }
    var damage = DatabaseDamage(Self.database(fixture))
    try damage.breakLeaf(with: "unreadable,")
    let outbox = try Self.open(fixture)
    let next = try await outbox.add(Note(text: "next"))
    #expect(try await outbox.reaches(Self.id(1), .unknown))
    try await outbox.handleEvents()
    // The lane stops, because the rule of the entry cannot be read.
    #expect(next.state == .queued)
    try await outbox.discard(Self.id(1))
    #expect(await next.outcome.isDelivered)
    await outbox.close()
  }

  @Test func `addition to an unreadable page is refused`() async throws {
    let fixture = try OutboxFixture()
    try await Self.damagedPage(fixture, text: "title 60,")
    let outbox = try Self.open(fixture)
    let error = await #expect(throws: OutboxError.self) { try await outbox.add(Rename(title: "x")) }
    #expect(error?.code == .damaged)
    #expect(try await until { try await outbox.summary.waiting == 0 })
    #expect(try await outbox.deadLetters().last?.id == Self.id(60))
    await outbox.close()
  }
}
