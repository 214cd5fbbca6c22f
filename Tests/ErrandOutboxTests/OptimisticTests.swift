import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandOutbox

/// Values with the changes of waiting entries laid over them.
struct OptimisticTests {
  private static func open(_ fixture: OutboxFixture) throws -> Outbox {
    try fixture.open([SetTitle.self, AddPage.self, Rename.self])
  }

  @Test func `waiting changes are laid over a live value`() async throws {
    let book = Book()
    let fixture = try OutboxFixture(book.answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    for title in ["one", "two"] { _ = try await outbox.add(SetTitle(page: "7", title: title)) }
    _ = try await outbox.add(SetTitle(page: "8", title: "other"))
    _ = try await outbox.add(Rename(title: "no patch"))
    #expect(try await outbox.value(of: GetPage(id: "7")).title == "two")
    #expect(try await outbox.patched(Page(id: "8", title: "x"), of: GetPage(id: "8")).title == "other")
    #expect(try await outbox.patched(Page(id: "9", title: "x"), of: GetPage(id: "9")).title == "x")
    await outbox.close()
  }

  @Test func `changes apply after a restart`() async throws {
    let fixture = try OutboxFixture(Book(status: 503).answer)  // the second outbox may send before it pauses
    let first = try Self.open(fixture)
    first.pause()
    _ = try await first.add(SetTitle(page: "7", title: "new"))
    await first.close()
    let second = try Self.open(fixture)
    second.pause()
    #expect(try await second.patched(Page(id: "7", title: "old"), of: GetPage(id: "7")).title == "new")
    await second.close()
  }

  @Test func `new object has a temporary identifier`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let added = try await outbox.add(AddPage(title: "draft"))
    _ = try await outbox.add(SetTitle(page: added.reference, title: "better"))
    let pages = try await outbox.value(of: ListPages())
    #expect(pages == [Page(id: "7", title: "old"), Page(id: "pending-1", title: "better")])
    await outbox.close()
  }

  @Test func `reference gets its identifier in the patch`() async throws {
    let fixture = try OutboxFixture { $0.method == "POST" ? .json(#"{"id": "9", "title": "draft"}"#) : .stall() }
    let outbox = try Self.open(fixture)
    outbox.pause()
    let added = try await outbox.add(AddPage(title: "draft"))
    _ = try await outbox.add(SetTitle(page: added.reference, title: "better"))
    let page = Page(id: "9", title: "draft")
    #expect(try await outbox.patched(page, of: GetPage(id: "9")) == page)
    outbox.resume()
    #expect(await added.outcome.isDelivered)
    #expect(try await outbox.patched(page, of: GetPage(id: "9")).title == "better")
    await outbox.close()
  }

  @Test func `change delivered during the call is laid over its value`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { request in
      request.method == "PUT"
        ? .status(204) : LoopbackAnswer.json(#"{"id": "7", "title": "old"}"#).held(at: gate)
    }
    let outbox = try Self.open(fixture)
    outbox.pause()
    let receipt = try await outbox.add(SetTitle(page: "7", title: "new"))
    async let value = outbox.value(of: GetPage(id: "7"))
    try await fixture.server.request(number: 1)
    outbox.resume()
    #expect(await receipt.outcome.isDelivered)
    gate.open()
    #expect(try await value.title == "new")
    await outbox.close()
  }

  @Test func `edited request changes its patch`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let receipt = try await outbox.add(SetTitle(page: "7", title: "one"))
    let page = Page(id: "7", title: "old")
    #expect(try await outbox.patched(page, of: GetPage(id: "7")).title == "one")
    try await outbox.edit(receipt.id, to: SetTitle(page: "7", title: "two"))
    #expect(try await outbox.patched(page, of: GetPage(id: "7")).title == "two")
    await outbox.close()
  }

  @Test func `other account sees no change`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    try await fixture.login("ada")
    let outbox = try Self.open(fixture)
    outbox.pause()
    _ = try await outbox.add(SetTitle(page: "7", title: "new"))
    try await fixture.login("bo")
    #expect(try await outbox.patched(Page(id: "7", title: "old"), of: GetPage(id: "7")).title == "old")
    try await fixture.accounts.use("ada")
    #expect(try await outbox.patched(Page(id: "7", title: "old"), of: GetPage(id: "7")).title == "new")
    await outbox.close()
  }

  @Test func `value keeps the changes of its account`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { _ in LoopbackAnswer.json(#"{"id": "7", "title": "old"}"#).held(at: gate) }
    let outbox = try Self.open(fixture)
    outbox.pause()
    for account in ["bo", "ada"] {
      try await fixture.login(account)
      _ = try await outbox.add(SetTitle(page: "7", title: account))
    }
    async let value = outbox.value(of: GetPage(id: "7"))
    try await fixture.server.request(number: 1)
    try await fixture.accounts.use("bo")
    gate.open()
    #expect(try await value.title == "ada")
    await outbox.close()
  }

  @Test func `change of another process is laid over a value`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let (first, other) = (try Self.open(fixture), try Self.open(fixture))
    for outbox in [first, other] { outbox.pause() }
    let page = Page(id: "7", title: "old")
    #expect(try await first.patched(page, of: GetPage(id: "7")) == page)
    let id = try await other.add(SetTitle(page: "7", title: "new")).id
    #expect(try await first.patched(page, of: GetPage(id: "7")).title == "new")
    try await other.discard(id)
    #expect(try await first.patched(page, of: GetPage(id: "7")) == page)
    await other.close()
    await first.close()
  }

  @Test func `resent change applies at its old place`() async throws {
    let fixture = try OutboxFixture(Book(status: 403).answer)
    let outbox = try Self.open(fixture)
    let first = try await outbox.add(SetTitle(page: "7", title: "first"))
    #expect(await first.outcome.state == .rejected)
    outbox.pause()
    let page = Page(id: "7", title: "old")
    #expect(try await outbox.patched(page, of: GetPage(id: "7")) == page)
    let second = try await outbox.add(SetTitle(page: "7", title: "second")).id
    try await outbox.resend(first.id)
    #expect(try await outbox.patched(page, of: GetPage(id: "7")).title == "second")
    try await outbox.discard(second)
    #expect(try await outbox.patched(page, of: GetPage(id: "7")).title == "first")
    await outbox.close()
  }

  @Test func `damaged row has no patch`() async throws {
    let fixture = try OutboxFixture(Book(status: 503).answer)  // the second outbox may send before it pauses
    let first = try Self.open(fixture)
    first.pause()
    _ = try await first.add(SetTitle(page: "7", title: String(repeating: "z", count: 50_000)))
    _ = try await first.add(SetTitle(page: "8", title: "good"))
    try await first.runner.perform { try $0.store.database.run("PRAGMA wal_checkpoint(TRUNCATE)") }
    await first.close()
    var damage = DatabaseDamage(fixture.folder.appending(path: "errand-outbox.sqlite"))
    try damage.breakOverflow(of: 0x7a)
    let outbox = try Self.open(fixture)
    outbox.pause()
    #expect(try await outbox.patched(Page(id: "7", title: "old"), of: GetPage(id: "7")).title == "old")
    #expect(try await outbox.patched(Page(id: "8", title: "old"), of: GetPage(id: "8")).title == "good")
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `added and discarded changes follow each other`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let last = Locked<OutboxEntry.ID?>(nil)
    var seen = try await Self.titles(outbox.values(of: GetPage(id: "7")), until: "third") { title in
      switch title {
      case "old": _ = try await outbox.add(SetTitle(page: "7", title: "first"))
      case "first" where last.withLock { $0 } == nil:
        let id = try await outbox.add(SetTitle(page: "7", title: "second")).id
        last.withLock { $0 = id }
      case "second": if let id = last.withLock({ $0 }) { try await outbox.discard(id) }
      default: _ = try await outbox.add(SetTitle(page: "7", title: "third"))
      }
    }
    seen = seen.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    #expect(seen == ["old", "first", "second", "first", "third"])
    await outbox.close()
  }

  // MARK: - Sequences

  /// The titles that a sequence delivers, until `title` arrives.
  private static func titles(
    _ values: AsyncThrowingStream<Page, any Error>, until title: String, _ body: @Sendable (String) async throws -> Void
  ) async throws -> [String] {
    var seen: [String] = []
    for try await page in values {
      seen.append(page.title)
      if page.title == title { break }
      try await body(page.title)
    }
    return seen
  }

  @Test(.timeLimit(.minutes(1))) func `change appears and becomes the value of the server`() async throws {
    let book = Book()
    let fixture = try OutboxFixture(book.answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let seen = try await Self.titles(outbox.values(of: GetPage(id: "7")), until: "NEW") { title in
      switch title {
      case "old": _ = try await outbox.add(SetTitle(page: "7", title: "new"))
      default: outbox.resume()
      }
    }
    #expect(seen.filter { $0 != "new" } == ["old", "NEW"])
    #expect(seen.contains("new"))
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `each delivery causes its own exchange`() async throws {
    let gate = Gate()
    let book = Book()
    let fixture = try OutboxFixture { request in
      let answer = book.answer(request)
      // The value after the first delivery arrives after the second one.
      return request.number == 3 ? answer.held(at: gate) : answer
    }
    let outbox = try Self.open(fixture)
    var values = outbox.values(of: GetPage(id: "7")).makeAsyncIterator()
    #expect(try await values.next()?.title == "old")
    #expect(try await outbox.add(SetTitle(page: "7", title: "one")).outcome.isDelivered)
    try await fixture.server.request(number: 3)
    #expect(try await outbox.add(SetTitle(page: "7", title: "two")).outcome.isDelivered)
    try await fixture.server.request(number: 5)
    gate.open()
    var last: String?
    while last != "TWO", let page = try await values.next() { last = page.title }
    #expect(last == "TWO")
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `rejected change is taken back`() async throws {
    let book = Book(status: 400)
    let fixture = try OutboxFixture(book.answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    _ = try await outbox.add(SetTitle(page: "7", title: "new"))
    let seen = try await Self.titles(outbox.values(of: GetPage(id: "7")), until: "old") { _ in outbox.resume() }
    #expect(seen.first == "new")
    #expect(seen.last == "old")
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `change delivered during the first call stays`() async throws {
    let gate = Gate()
    let book = Book()
    let fixture = try OutboxFixture { request in
      if request.method == "PUT" { return book.answer(request) }
      // The first response is the value before the change, but it arrives after the delivery.
      return request.number == 1
        ? LoopbackAnswer.json(#"{"id": "7", "title": "old"}"#).held(at: gate) : book.answer(request)
    }
    let outbox = try Self.open(fixture)
    outbox.pause()
    let receipt = try await outbox.add(SetTitle(page: "7", title: "new"))
    let values = outbox.values(of: GetPage(id: "7"))
    async let seen = Self.titles(values, until: "NEW") { _ in }
    try await fixture.server.request(number: 1)
    outbox.resume()
    #expect(await receipt.outcome.isDelivered)
    gate.open()
    #expect(try await !seen.contains("old"))
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `other account gets its own values`() async throws {
    let fixture = try OutboxFixture { request in
      let user = request.headers["Authorization"]?.hasSuffix("bo") == true ? "bo" : "ada"
      return .json(#"{"id": "7", "title": "\#(user)"}"#)
    }
    try await fixture.login("bo")
    try await fixture.login("ada")
    let outbox = try Self.open(fixture)
    let seen = try await Self.titles(outbox.values(of: GetPage(id: "7")), until: "bo") { _ in
      try await fixture.accounts.use("bo")
    }
    #expect(seen == ["ada", "bo"])
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `response of the former account is not used`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { request in
      let user = request.headers["Authorization"]?.hasSuffix("bo") == true ? "bo" : "ada"
      let answer = LoopbackAnswer.json(#"{"id": "7", "title": "\#(user)"}"#)
      return user == "ada" ? answer.held(at: gate) : answer
    }
    try await fixture.login("bo")
    try await fixture.login("ada")
    let outbox = try Self.open(fixture)
    let values = outbox.values(of: GetPage(id: "7"))
    try await fixture.server.request(number: 1)
    try await fixture.accounts.use("bo")
    try await fixture.server.request(number: 2)
    gate.open()
    let seen = try await Self.titles(values, until: "bo") { _ in }
    #expect(seen == ["bo"])
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `failed call of the next account ends a sequence`() async throws {
    let fixture = try OutboxFixture { request in
      let isBo = request.headers["Authorization"]?.hasSuffix("bo") == true
      return isBo ? .status(500) : .json(#"{"id": "7", "title": "ada"}"#)
    }
    try await fixture.login("bo")
    try await fixture.login("ada")
    let outbox = try Self.open(fixture)
    let error = await #expect(throws: APIError.self) {
      for try await _ in outbox.values(of: GetPage(id: "7")) { try await fixture.accounts.use("bo") }
    }
    #expect(error?.status == 500)
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `failed call ends a sequence without a value`() async throws {
    let fixture = try OutboxFixture { _ in .status(500) }
    let outbox = try Self.open(fixture)
    let error = await #expect(throws: APIError.self) {
      for try await _ in outbox.values(of: GetPage(id: "7")) {}
    }
    #expect(error?.status == 500)
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `left sequence releases the outbox`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    weak var released: Outbox?
    do {
      let outbox = try Self.open(fixture)
      released = outbox
      for try await _ in outbox.values(of: GetPage(id: "7")) { break }
    }
    #expect(try await until { released == nil })
  }

  @Test(.timeLimit(.minutes(1))) func `closed outbox ends its sequences of values`() async throws {
    let fixture = try OutboxFixture(Book().answer)
    let outbox = try Self.open(fixture)
    var count = 0
    for try await _ in outbox.values(of: GetPage(id: "7")) {
      count += 1
      await outbox.close()
    }
    #expect(count == 1)
  }
}
