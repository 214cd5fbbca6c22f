import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Changes that ended without a delivery, although the server may have carried them out.
struct EndedChangeTests {
  private static func open(_ fixture: OutboxFixture) throws -> Outbox {
    try fixture.open([SetTitle.self, AddPage.self])
  }

  /// A server that adds a page, and sends a response that cannot be read.
  private final class SilentBook: Sendable {
    private let hasPage = Locked(false)

    func answer(_ request: RecordedRequest) -> LoopbackAnswer {
      guard request.method == "POST" else {
        let added = hasPage.withLock { $0 } ? #", {"id": "9", "title": "DRAFT"}"# : ""
        return .json(#"[{"id": "7", "title": "old"}\#(added)]"#)
      }
      hasPage.withLock { $0 = true }
      return .status(200)
    }
  }

  @Test(.timeLimit(.minutes(1))) func `unreadable response requests the value again`() async throws {
    let book = SilentBook()
    let fixture = try OutboxFixture(book.answer)
    let outbox = try Self.open(fixture)
    outbox.pause()
    let receipt = try await outbox.add(AddPage(title: "draft"))
    var last: [String] = []
    for try await pages in outbox.values(of: ListPages()) {
      last = pages.map(\.title)
      // The change stays until the server's next response.
      #expect(last.count == 2)
      if last == ["old", "DRAFT"] { break }
      outbox.resume()
    }
    #expect(last == ["old", "DRAFT"])
    #expect(await receipt.outcome.state == .rejected)
    #expect(await receipt.outcome.reason?.code == .response)
    await outbox.close()
  }

  @Test(.timeLimit(.minutes(1))) func `other process reports an unreadable response`() async throws {
    let book = SilentBook()
    let fixture = try OutboxFixture(book.answer)
    let sender = try Self.open(fixture)
    try await sender.handleEvents()  // so that this outbox has the right to send
    sender.pause()
    let id = try await sender.add(AddPage(title: "draft")).id
    let other = try Self.open(fixture)
    var last: [String] = []
    for try await pages in other.values(of: ListPages()) {
      last = pages.map(\.title)
      #expect(last.count == 2)
      if last == ["old", "DRAFT"] { break }
      sender.resume()
      #expect(try await sender.reaches(id, .rejected))
      other.wake()
    }
    #expect(last == ["old", "DRAFT"])
    await other.close()
    await sender.close()
  }

  @Test(.timeLimit(.minutes(1))) func `unknown fate requests the value again`() async throws {
    let (book, gate) = (Book(), Gate())
    let fixture = try OutboxFixture { request in
      let answer = book.answer(request)
      return request.method == "PUT" ? answer.held(at: gate) : answer
    }
    let outbox = try Self.open(fixture)
    var (last, isAdded) = ("", false)
    for try await page in outbox.values(of: GetPage(id: "7")) {
      last = page.title
      if last == "NEW" { break }
      if isAdded { continue }
      isAdded = true
      let id = try await outbox.add(SetTitle(page: "7", title: "new")).id
      try await gate.reached()
      #expect(try await outbox.cancel(id) == .unknown)
    }
    gate.open()
    #expect(last == "NEW")
    await outbox.close()
  }

  @Test func `value keeps a change whose response is unreadable`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { request in
      request.method == "POST"
        ? .status(200) : LoopbackAnswer.json(#"[{"id": "7", "title": "old"}]"#).held(at: gate)
    }
    let outbox = try Self.open(fixture)
    outbox.pause()
    let receipt = try await outbox.add(AddPage(title: "draft"))
    async let pages = outbox.value(of: ListPages())
    try await fixture.server.request(number: 1)
    outbox.resume()
    #expect(await receipt.outcome.state == .rejected)
    gate.open()
    #expect(try await pages.map(\.title) == ["old", "draft"])
    await outbox.close()
  }
}
