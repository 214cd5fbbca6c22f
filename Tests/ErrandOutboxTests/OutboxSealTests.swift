import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Sealed requests: a key that is unavailable, and what may be stored of a request that cannot be read.
struct OutboxSealTests {
  // MARK: - Keys

  /// A seal whose key is unavailable for a number of calls.
  private final class Locking: OutboxSeal {
    struct Unavailable: Error {}
    let left: Locked<Int>
    let isForever: Bool

    init(_ count: Int, isForever: Bool = false) {
      left = Locked(count)
      self.isForever = isForever
    }

    func seal(_ bytes: Data) throws -> Data { Data(bytes.reversed()) }

    func open(_ sealed: Data) throws -> Data {
      let isLocked = left.withLock { left in
        left -= 1
        return left >= 0
      }
      guard isLocked else { return Data(sealed.reversed()) }
      if isForever { throw OutboxError.unreadable("The form was changed.") }
      throw Unavailable()
    }
  }

  @Test func `unavailable key delays the lane`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open { $0.seal = Locking(2) }
    outbox.pause()
    let first = try await outbox.add(Rename(title: "first")).id
    let second = try await outbox.add(Rename(title: "second")).id
    outbox.resume()
    #expect(try await outbox.waits(first, failures: 1))
    #expect(try await outbox.entry(first)?.reason?.code == .unreadable)
    #expect(try await fixture.advance(outbox, until: first))
    #expect(try await outbox.reaches(second, .delivered))
    #expect(fixture.bodies == [#"{"title":"first"}"#, #"{"title":"second"}"#])
    #expect(try await outbox.entry(first)?.attempts == 1)
    await outbox.close()
  }

  @Test func `form that the seal rejects is parked`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open { $0.seal = Locking(1, isForever: true) }
    let receipt = try await outbox.add(Rename(title: "x"))
    #expect(await receipt.outcome.state == .parked)
    #expect(try await outbox.entry(receipt.id)?.reason?.message.contains("The form was changed.") == true)
    await outbox.close()
  }

  @Test func `patch returns with the key`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open([SetTitle.self]) { $0.seal = Locking(3) }
    outbox.pause()
    for page in ["7", "8"] { _ = try await outbox.add(SetTitle(page: .init(page), title: "new")) }
    func title(_ page: String) async throws -> String {
      try await outbox.patched(Page(id: page, title: "old"), of: GetPage(id: page)).title
    }
    // The seal has no key three times.
    for _ in 1...3 { #expect(try await title("7") == "old") }
    #expect(try await title("7") == "new")
    #expect(try await title("8") == "new")
    await outbox.close()
  }

  @Test func `entry that ended has no patch to read`() async throws {
    let fixture = try OutboxFixture()
    let outbox = try fixture.open([SetTitle.self]) { $0.seal = Locking(1) }
    outbox.pause()
    let first = try await outbox.add(SetTitle(page: "7", title: "first")).id
    let page = Page(id: "7", title: "old")
    #expect(try await outbox.patched(page, of: GetPage(id: "7")).title == "old")
    #expect(try await outbox.cancel(first) == .cancelled)
    #expect(try await outbox.patched(page, of: GetPage(id: "7")).title == "old")
    await outbox.close()
  }

  // MARK: - Plaintext

  /// A text of requests that must not be stored.
  private static let secret = "hunter2"

  /// The earlier form of ``Hidden``.
  private struct Earlier: OutboxRequest {
    static let outboxType = "Hidden"
    var text: [String: String]
    var path: Path { "/hidden" }
    typealias Response = Nothing
  }

  private struct Hidden: OutboxRequest {
    struct Failed: Error {
      var text: String
    }

    var text: [String: Int]
    var path: Path { "/hidden" }
    var method: HTTPMethod { .put }
    typealias Response = Nothing

    func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<Self> {
      throw Failed(text: "\(text)")
    }
  }

  /// A later version, whose migration quotes the request.
  private struct Later: OutboxRequest {
    static let outboxType = "Hidden"
    static let outboxVersion = 2
    var path: Path { "/hidden" }
    typealias Response = Nothing
    static func migrate(_ old: StoredRequest) throws -> Self { throw Hidden.Failed(text: secret) }
  }

  private static func stores(_ fixture: OutboxFixture, _ text: String) throws -> Bool {
    try FileManager.default.contentsOfDirectory(at: fixture.folder, includingPropertiesForKeys: nil).contains {
      try Data(contentsOf: $0).range(of: Data(text.utf8)) != nil
    }
  }

  @Test(arguments: [true, false])
  func `unreadable sealed request is not quoted`(migrates: Bool) async throws {
    let lines = Locked<[String]>([])
    let fixture = try OutboxFixture()
    fixture.client.configure { $0.log = { line in lines.withLock { $0.append(line.text) } } }
    let first = try fixture.open([Earlier.self]) { $0.seal = Locking(0) }
    first.pause()
    let id = try await first.add(Earlier(text: [Self.secret: Self.secret])).id
    await first.close()
    let type: any OutboxRequest.Type = migrates ? Later.self : Hidden.self
    let second = try fixture.open([type]) { $0.seal = Locking(0) }
    #expect(try await second.reaches(id, .parked))
    let message = try await second.entry(id)?.reason?.message ?? ""
    #expect(message.contains(migrates ? "Failed" : "typeMismatch at `text.*`"), "\(message)")
    #expect(try !Self.stores(fixture, Self.secret))
    #expect(!lines.withLock { $0.contains { $0.contains(Self.secret) } })
    await second.close()
  }

  /// Quotes each request.
  private struct Quoting: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      throw Hidden.Failed(text: secret)
    }
  }

  @Test func `failed call of a sealed request is not quoted`() async throws {
    let fixture = try OutboxFixture()
    fixture.client.configure { $0.interceptors.calls.append(Quoting()) }
    let outbox = try fixture.open([Hidden.self]) { $0.seal = Locking(0) }
    let receipt = try await outbox.add(Hidden(text: [Self.secret: 1]))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    let reason = try await outbox.entry(receipt.id)?.reason
    #expect(reason?.message == "The call failed: stage interceptor, code interceptor.")
    #expect(try !Self.stores(fixture, Self.secret))
    await outbox.close()
  }

  @Test func `failed decision about a sealed request is not quoted`() async throws {
    let fixture = try OutboxFixture { _ in .status(412) }
    let outbox = try fixture.open([Hidden.self]) { $0.seal = Locking(0) }
    let receipt = try await outbox.add(Hidden(text: [Self.secret: 1]))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    let reason = try await outbox.entry(receipt.id)?.reason
    #expect(reason?.code == .conflict && reason?.message.contains("Failed") == true)
    #expect(try !Self.stores(fixture, Self.secret))
    await outbox.close()
  }
}
