import Errand
import ErrandCache
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Changes that were delivered, over responses that were requested before the delivery.
struct DeliveredChangeTests {
  /// A change with a file.
  struct SetCover: OptimisticRequest {
    var cover: OutboxFile
    var path: Path { "/cover" }
    var method: HTTPMethod { .put }
    var body: RequestBody? { .file(cover.url) }
    typealias Response = Nothing

    func patches(of object: OutboxReference) -> [OutboxPatch] {
      let title = cover.name
      return [
        .changing(ListPages.self) { pages, _ in
          for index in pages.indices { pages[index].title = title }
        }
      ]
    }
  }

  private static func open(
    _ fixture: OutboxFixture, _ change: (inout OutboxConfiguration) -> Void = { _ in }
  ) throws -> Outbox {
    try fixture.open([SetTitle.self, AddPage.self, SetCover.self], change)
  }

  /// The titles of the stored list, with the changes that it lacks.
  private static func stored(_ outbox: Outbox) async throws -> [String] {
    try await outbox.value(of: ListPages(), options: CallOptions(cache: .cacheOnlyAtAnyAge)).map(\.title)
  }

  /// Stores the list, and delivers a change a second later.
  private static func deliver(_ request: some OutboxRequest, _ fixture: OutboxFixture, _ outbox: Outbox) async throws {
    _ = try await outbox.value(of: ListPages())
    fixture.clock.advance(by: .seconds(1))
    #expect(try await outbox.add(request).outcome.isDelivered)
  }

  /// The length of a stored request; nil if there is no entry.
  private static func length(_ id: Int64, _ outbox: Outbox) async throws -> Int? {
    try await outbox.runner.perform { try $0.store.stored(id)?.request.count }
  }

  // MARK: - Stored responses

  @Test func `stored list keeps a delivered change`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "new"), fixture, outbox)
    #expect(try await Self.stored(outbox) == ["new"])
    await outbox.close()
    let next = try Self.open(fixture)
    #expect(try await Self.stored(next) == ["new"])
    await next.close()
  }

  @Test func `newer response ends a delivered change`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "new"), fixture, outbox)
    let fresh = try await outbox.value(of: ListPages(), options: CallOptions(cache: .ignoringCache))
    #expect(fresh.map(\.title) == ["NEW"])
    #expect(try await Self.stored(outbox) == ["NEW"])
    await outbox.close()
  }

  @Test func `response requested before the delivery lacks the change`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { request in
      request.method == "PUT"
        ? .status(204) : LoopbackAnswer.json(#"[{"id": "7", "title": "old"}]"#).held(at: gate)
    }
    let outbox = try Self.open(fixture)
    async let list = fixture.client.send(ListPages())
    try await fixture.server.request(number: 1)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await outbox.add(SetTitle(page: "7", title: "new")).outcome.isDelivered)
    fixture.clock.advance(by: .seconds(1))
    gate.open()
    #expect(try await list.map(\.title) == ["old"])
    #expect(try await Self.stored(outbox) == ["new"])
    await outbox.close()
  }

  @Test func `rejected change is not kept`() async throws {
    let fixture = try OutboxFixture(Book(status: 400).answer)
    let outbox = try Self.open(fixture)
    _ = try await outbox.value(of: ListPages())
    fixture.clock.advance(by: .seconds(1))
    #expect(try await outbox.add(SetTitle(page: "7", title: "new")).outcome.state == .rejected)
    #expect(try await Self.stored(outbox) == ["old"])
    await outbox.close()
  }

  @Test func `delivered and waiting changes keep their order`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "one"), fixture, outbox)
    #expect(try await outbox.add(SetTitle(page: "7", title: "two")).outcome.isDelivered)
    outbox.pause()
    let last = try await outbox.add(SetTitle(page: "7", title: "three"))
    #expect(try await Self.stored(outbox) == ["three"])
    try await outbox.discard(last.id)
    #expect(try await Self.stored(outbox) == ["two"])
    await outbox.close()
  }

  @Test func `created object gets its identifier`() async throws {
    let fixture = try OutboxFixture { request in
      switch request.method {
      case "POST": .json(#"{"id": "9", "title": "draft"}"#)
      case "PUT": .status(204)
      default: .json(#"[{"id": "7", "title": "old"}]"#)
      }
    }
    let outbox = try Self.open(fixture)
    _ = try await outbox.value(of: ListPages())
    fixture.clock.advance(by: .seconds(1))
    outbox.pause()
    let added = try await outbox.add(AddPage(title: "draft"))
    let changed = try await outbox.add(SetTitle(page: added.reference, title: "better"))
    outbox.resume()
    #expect(await changed.outcome.isDelivered)
    let list = try await outbox.value(of: ListPages(), options: CallOptions(cache: .cacheOnlyAtAnyAge))
    #expect(list == [Page(id: "7", title: "old"), Page(id: "9", title: "better")])
    await outbox.close()
  }

  @Test func `change with a file stays after a restart`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    let file = try fixture.file("cover", name: "cover.jpg")
    try await Self.deliver(SetCover(cover: OutboxFile(file)), fixture, outbox)
    #expect(try await Self.stored(outbox) == ["cover.jpg"])
    await outbox.close()
    let next = try Self.open(fixture)
    #expect(try await Self.stored(next) == ["cover.jpg"])
    await next.close()
  }

  @Test func `value from elsewhere gets no delivered change`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "new"), fixture, outbox)
    #expect(try await outbox.patched(Page(id: "7", title: "x"), of: GetPage(id: "7")).title == "x")
    await outbox.close()
  }

  // MARK: - Accounts

  @Test func `delivered change belongs to its account`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    for account in ["bo", "ada"] {
      try await fixture.login(account)
      _ = try await outbox.value(of: ListPages())
    }
    fixture.clock.advance(by: .seconds(1))
    #expect(try await outbox.add(SetTitle(page: "7", title: "new")).outcome.isDelivered)
    try await fixture.accounts.use("bo")
    #expect(try await Self.stored(outbox) == ["old"])
    try await fixture.accounts.use("ada")
    #expect(try await Self.stored(outbox) == ["new"])
    await outbox.close()
  }

  @Test(arguments: [.keep, .discard, .sendFirst(within: .seconds(1))] as [OutboxLogout])
  func `prepared logout removes delivered changes`(rule: OutboxLogout) async throws {
    let fixture = try OutboxFixture(Book().answer)
    try await fixture.login("ada")
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "new"), fixture, outbox)
    #expect(try await Self.length(1, outbox) != 0)
    try await outbox.prepareLogout(of: "bo", rule)
    #expect(try await Self.stored(outbox) == ["new"])
    try await outbox.prepareLogout(of: "ada", rule)
    #expect(try await Self.stored(outbox) == ["old"])
    #expect(try await Self.length(1, outbox) == 0)
    await outbox.close()
  }

  // MARK: - Limits

  @Test func `delivered change ends after a day`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture) { $0.history = .days(7) }
    try await Self.deliver(SetTitle(page: "7", title: "new"), fixture, outbox)
    fixture.clock.advance(by: .seconds(86_400))
    #expect(try await Self.stored(outbox) == ["new"])
    fixture.clock.advance(by: .seconds(1))
    #expect(try await Self.stored(outbox) == ["old"])
    // Nothing else happens in the outbox. It removes old changes once an hour.
    fixture.clock.advance(by: .seconds(3_600))
    #expect(try await until { try await Self.length(1, outbox) == 0 })
    #expect(try await outbox.entry(.init(rawValue: 1))?.state == .delivered)
    await outbox.close()
  }

  @Test func `clock that was set back ends a delivered change`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "new"), fixture, outbox)
    fixture.jump.withLock { $0 = -3_600_000 }
    #expect(try await Self.stored(outbox) == ["old"])
    await outbox.close()
  }

  @Test func `only the latest changes are kept`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    for title in ["one", "two", "three"] {
      try await Self.deliver(SetTitle(page: "7", title: title), fixture, outbox)
    }
    try await outbox.runner.perform { runner in
      try runner.forgetChanges { try $0.keptChanges(of: "", exceptLatest: 2) }
    }
    var lengths: [Int?] = []
    for id in Int64(1)...3 { lengths.append(try await Self.length(id, outbox)) }
    #expect(lengths.map { $0 == 0 } == [true, false, false])
    await outbox.close()
  }

  @Test func `surplus changes are removed together`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "first"), fixture, outbox)
    let copies = Int64(ResponseMoment.mostChanges + ResponseMoment.surplus - 3)
    try await outbox.runner.perform { runner in
      try runner.store.transaction {
        try runner.store.run(
          """
          WITH RECURSIVE copy(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copy WHERE number < ?) \
          INSERT INTO entry(type, version, account, lane, key, sealed, state, attempts, failures, conflicts, waits, \
          added, not_before, attempt_limit, stops, ended, kept, request, sum, blocks, head) \
          SELECT type, version, account, lane, key, sealed, state, attempts, failures, conflicts, waits, \
          added, not_before, attempt_limit, stops, ended, kept, request, sum, blocks, head FROM entry, copy WHERE id = 1
          """, .number(copies))
      }
    }
    var counts: [Int64?] = []
    for title in ["second", "third"] {
      try await Self.deliver(SetTitle(page: "7", title: title), fixture, outbox)
      counts.append(
        try await outbox.runner.perform { try $0.store.number("SELECT count(*) FROM entry WHERE kept IS NOT NULL") })
    }
    #expect(counts == [copies + 2, Int64(ResponseMoment.mostChanges)])
    #expect(try await Self.length(1, outbox) == 0)
    await outbox.close()
  }

  @Test func `wrong index removes no waiting request`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let waiting = try await outbox.add(SetTitle(page: "7", title: "new")).id
    // An index may name a wrong entry. The request of an entry that waits stays.
    try await outbox.runner.perform { runner in try runner.forgetChanges { _ in [waiting.rawValue, 99] } }
    #expect(try await Self.length(waiting.rawValue, outbox) != 0)
    await outbox.close()
  }

  @Test func `wrong mark removes no waiting request`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let waiting = try await outbox.add(SetTitle(page: "7", title: "new")).id
    try await outbox.runner.perform { runner in
      try runner.store.run("UPDATE entry SET kept=1 WHERE id=?", .number(waiting.rawValue))
      try runner.forgetChanges { try $0.keptChanges(of: "", exceptLatest: 0) }
    }
    #expect(try await Self.length(waiting.rawValue, outbox) != 0)
    outbox.resume()
    #expect(try await outbox.reaches(waiting, .delivered))
    await outbox.close()
  }

  // MARK: - Sequences

  @Test(.timeLimit(.minutes(1))) func `later sequence begins with the delivered change`() async throws {
    let book = Book()
    let isDown = Locked(false)
    let fixture = try OutboxFixture { request in
      isDown.withLock { $0 } ? .status(500) : book.answer(request)
    }
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "new"), fixture, outbox)
    isDown.withLock { $0 = true }
    var values = outbox.values(of: ListPages()).makeAsyncIterator()
    #expect(try await values.next()?.map(\.title) == ["new"])
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `forgotten change stays in an open sequence`() async throws {
    let isDown = Locked(false)
    let fixture = try OutboxFixture { request in
      if request.method == "PUT" { return .status(204) }
      return isDown.withLock { $0 } ? .status(500) : .json(#"[{"id": "7", "title": "old"}]"#)
    }
    let outbox = try Self.open(fixture)
    var values = outbox.values(of: ListPages()).makeAsyncIterator()
    #expect(try await values.next()?.map(\.title) == ["old"])
    isDown.withLock { $0 = true }
    fixture.clock.advance(by: .seconds(1))
    #expect(try await outbox.add(SetTitle(page: "7", title: "new")).outcome.isDelivered)
    var last: [String] = []
    while last != ["new"], let pages = try await values.next() { last = pages.map(\.title) }
    try await outbox.runner.perform { runner in
      try runner.forgetChanges { try $0.keptChanges(of: "", exceptLatest: 0) }
    }
    outbox.pause()
    _ = try await outbox.add(AddPage(title: "draft"))
    while last.count != 2, let pages = try await values.next() { last = pages.map(\.title) }
    #expect(last == ["new", "draft"])
    await outbox.close()
  }

  /// The request is removed after the delivery, before the follower reads the changes again.
  @Test func `change forgotten at once is noticed`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let receipt = try await outbox.add(SetTitle(page: "7", title: "new"))
    var patches = PatchFollower<ListPages>()
    try await patches.follow(outbox.runner)
    #expect(patches.entries.count == 1)
    outbox.resume()
    #expect(await receipt.outcome.isDelivered)
    try await outbox.runner.perform { runner in
      try runner.forgetChanges { try $0.keptChanges(of: "", exceptLatest: 0) }
    }
    let change = try await patches.follow(outbox.runner)
    let forgotten = patches.takeForgotten().map(\.id)
    #expect(change == .other && forgotten == [receipt.id.rawValue])
    #expect(patches.entries.isEmpty && patches.deliveryCount == 1)
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `unchanged response of the server ends the change`() async throws {
    let fixture = try OutboxFixture { request in
      request.method == "PUT" ? .status(204) : .json(#"[{"id": "7", "title": "old"}]"#)
    }
    let outbox = try Self.open(fixture)
    try await Self.deliver(SetTitle(page: "7", title: "new"), fixture, outbox)
    #expect(try await Self.stored(outbox) == ["new"])
    var last: [String] = []
    for try await pages in outbox.values(of: ListPages()) {
      last = pages.map(\.title)
      if last == ["old"] { break }
    }
    #expect(last == ["old"])
    await outbox.close()
  }
}
