import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

/// Situations in which a request could be sent twice although the server has carried it out.
struct OutboxRepetitionTests {
  // MARK: - Redirects

  @Test func `refused target of a redirect leaves the fate open`() async throws {
    let port = try RefusingPort()
    let fixture = try OutboxFixture { _ in .redirect(to: port.url + "/result", status: 303) }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Plain(number: 1))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    #expect(try await outbox.entry(receipt.id)?.mayHaveBeenSent == true)
    fixture.clock.advance(by: .seconds(5))
    #expect(await receipt.outcome.state == .unknown)
    #expect(fixture.server.requests.map(\.method) == ["POST"])
    await outbox.close()
  }

  @Test func `rejected target of a redirect keeps the key`() async throws {
    let fixture = try OutboxFixture { request in
      request.path == "/result" ? .status(404) : .redirect(to: "/result", status: 303)
    }
    let outbox = try fixture.open()
    let receipt = try await outbox.add(Create(title: "x"))
    let outcome = await receipt.outcome
    #expect(outcome.state == .rejected)
    #expect(outcome.reason?.code == .response)
    #expect(try await outbox.entry(receipt.id)?.mayHaveBeenSent == true)
    try await outbox.resend(receipt.id)
    #expect(try await until { fixture.server.requests.count == 4 })
    #expect(
      Set(fixture.server.requests.filter { $0.method == "POST" }.map { $0.headers["Idempotency-Key"] }).count == 1)
    await outbox.close()
  }

  // MARK: - Results that arrive late

  // Another process cancels the entry, so the call of this process continues.

  @Test func `late response delivers a resent entry`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { _ in LoopbackAnswer.status(204).held(at: gate) }
    let sender = try fixture.open()
    try await sender.handleEvents()  // so that this outbox has the right to send
    let other = try fixture.open()
    let receipt = try await sender.add(Rename(title: "x"))
    try await fixture.server.request(number: 1)
    #expect(try await other.cancel(receipt.id) == .unknown)
    try await other.resend(receipt.id)
    gate.open()
    #expect(try await sender.reaches(receipt.id, .delivered))
    try await sender.handleEvents()
    #expect(fixture.server.requests.count == 1)
    await sender.close()
    await other.close()
  }

  @Test func `late response of another key is not used`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { $0.number == 1 ? LoopbackAnswer.status(204).held(at: gate) : .status(204) }
    let sender = try fixture.open()
    try await sender.handleEvents()  // so that this outbox has the right to send
    let other = try fixture.open()
    let receipt = try await sender.add(Plain(number: 1))
    try await fixture.server.request(number: 1)
    #expect(try await other.cancel(receipt.id) == .unknown)
    try await other.resend(receipt.id)
    try await other.edit(receipt.id, to: Plain(number: 2))
    gate.open()
    #expect(try await sender.reaches(receipt.id, .delivered))
    #expect(fixture.paths == ["/plain/1", "/plain/2"])
    await sender.close()
    await other.close()
  }

  // MARK: - Another version of the app

  struct Charge: OutboxRequest {
    var cents: Int
    var path: Path { "/charges/\(cents)" }
    var method: HTTPMethod { .post }
    typealias Response = Nothing
  }

  /// The same request in a later version of the app, which knows that the server ignores keys.
  struct ChargeOnce: OutboxRequest {
    var cents: Int
    var path: Path { "/charges/\(cents)" }
    var method: HTTPMethod { .post }
    var idempotency: Idempotency { .never }
    static var outboxType: String { Charge.outboxType }
    typealias Response = Nothing
  }

  @Test func `later version forbids the repetition`() async throws {
    let fixture = try OutboxFixture { _ in .status(500) }
    let first = try fixture.open([Charge.self])
    first.pause()
    let id = try await first.add(Charge(cents: 5)).id
    await first.close()
    let second = try fixture.open([ChargeOnce.self])
    #expect(try await second.waits(id, failures: 1))
    fixture.clock.advance(by: .seconds(5))
    #expect(try await second.reaches(id, .unknown))
    #expect(fixture.server.requests.count == 1)
    try await second.resend(id)
    #expect(try await until { fixture.server.requests.count == 2 })
    await second.close()
  }

  // MARK: - The rule for repeated calls

  /// Cancels or rejects other calls of its type.
  struct Tap: OutboxRequest {
    var number: Int
    var cancels: Bool
    var path: Path { "/taps/\(number)" }
    var method: HTTPMethod { .post }
    var idempotency: Idempotency { .never }
    var overlap: Overlap { Overlap(repeats: cancels ? .cancelPrevious : .ignoreNew) }
    var outbox: OutboxRule { .unordered }
    typealias Response = Nothing
  }

  @Test(arguments: [true, false]) func `entries of one type end no other`(cancels: Bool) async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { _ in LoopbackAnswer.status(204).held(at: gate) }
    let outbox = try fixture.open([Tap.self])
    let first = try await outbox.add(Tap(number: 1, cancels: cancels))
    try await fixture.server.request(number: 1)
    let second = try await outbox.add(Tap(number: 2, cancels: cancels))
    try await fixture.server.request(number: 2)
    gate.open()
    #expect(await first.outcome.isDelivered)
    #expect(await second.outcome.isDelivered)
    await outbox.close()
  }

  // MARK: - Turns of waiting calls

  struct Look: APIRequest {
    var number: Int
    var path: Path { "/looks/\(number)" }
    typealias Response = Nothing
  }

  @Test func `entries together take one turn`() async throws {
    let gate = Gate()
    let fixture = try OutboxFixture { request in
      let answer = LoopbackAnswer.status(204)
      return request.number == 1 ? answer.held(at: gate) : answer
    }
    fixture.client.configure { $0.admission.perHost = 1 }
    let (client, page) = (fixture.client, CallOwner())
    let outbox = try fixture.open()
    async let running = client.send(Look(number: 0))
    try await fixture.server.request(number: 1)
    for number in 1...4 { _ = try await outbox.add(Rename(note: "\(number)", title: "x")) }
    #expect(try await until { client.admission.waiting == 4 })
    async let first = client.send(Look(number: 1), options: .owner(page))
    #expect(try await until { client.admission.waiting == 5 })
    async let second = client.send(Look(number: 2), options: .owner(page))
    #expect(try await until { client.admission.waiting == 6 })
    gate.open()
    _ = try await (running, first, second)
    #expect(try await until { try await outbox.summary.waiting == 0 })
    #expect(fixture.paths.firstIndex(of: "/looks/2") == 4, "the page waited for two entries only")
    withExtendedLifetime(page) {}
    await outbox.close()
  }

  // MARK: - The window of the server

  struct Short: OutboxRequest {
    var name: String
    var path: Path { "/short/\(name)" }
    var method: HTTPMethod { .post }
    var outbox: OutboxRule { .lane("short", name).serverRemembersKeys(for: .seconds(60)) }
    typealias Response = Nothing
  }

  @Test(arguments: [true, false])
  func `key that is forgotten during a call is not used`(isAsleep: Bool) async throws {
    let fixture = try OutboxFixture()
    fixture.server.enqueue(.status(500))
    let outbox = try fixture.open([Short.self])
    let receipt = try await outbox.add(Short(name: "x"))
    #expect(try await outbox.waits(receipt.id, failures: 1))
    let latch = Latch()
    fixture.client.configure { $0.interceptors.calls.append(Holding(latch: latch)) }
    fixture.clock.advance(by: .seconds(1))
    #expect(await latch.reached())
    // The monotonic clock stands still while the device sleeps.
    if isAsleep { fixture.jump.withLock { $0 = 100_000 } } else { fixture.clock.advance(by: .seconds(100)) }
    latch.open()
    #expect(try await fixture.advance(outbox, to: receipt.id, .unknown))
    #expect(try await outbox.entry(receipt.id)?.reason?.code == .keyForgotten)
    #expect(fixture.server.requests.count == 1)
    await outbox.close()
  }

  @Test func `first exchange is sent however long it waited`() async throws {
    let fixture = try OutboxFixture()
    let latch = Latch()
    fixture.client.configure { $0.interceptors.calls.append(Holding(latch: latch)) }
    let outbox = try fixture.open([Short.self])
    let receipt = try await outbox.add(Short(name: "x"))
    #expect(await latch.reached())
    fixture.jump.withLock { $0 = 100_000 }
    latch.open()
    #expect(await receipt.outcome.isDelivered)
    await outbox.close()
  }

  // MARK: - Reconciliation

  /// A creation whose fate the app can find out, with the identifier.
  struct Found: OutboxRequest {
    var title: String
    var path: Path { "/notes" }
    var method: HTTPMethod { .post }
    var idempotency: Idempotency { .never }
    var outbox: OutboxRule { .lane("new", title) }
    func reconcile(in scope: OutboxScope) async throws -> OutboxFate { .carriedOut(createdID: "n1") }
    typealias Response = Nothing
  }

  @Test func `reconciled creation releases what refers to it`() async throws {
    let fixture = try OutboxFixture { $0.method == "POST" ? .status(500) : .status(204) }
    let outbox = try fixture.open([Found.self, Edit.self])
    outbox.pause()
    let created = try await outbox.add(Found(title: "x"))
    let edited = try await outbox.add(Edit(note: created.reference, text: "y"))
    outbox.resume()
    #expect(try await outbox.waits(created.id, failures: 1))
    fixture.clock.advance(by: .seconds(5))
    #expect(await created.outcome.isDelivered)
    #expect(await edited.outcome.isDelivered)
    #expect(fixture.paths == ["/notes", "/notes/n1"])
    await outbox.close()
  }

  // MARK: - Stored responses

  /// A question about an order. Its response is stored.
  struct GetOrder: APIRequest {
    var path: Path { "/order" }
    var cache: CachePolicy { .lifetime(.seconds(86_400)) }
    typealias Response = String
  }

  /// A change that asks for the state of the order before it decides.
  struct Order: OutboxRequest {
    var path: Path { "/orders" }
    var method: HTTPMethod { .put }
    var idempotency: Idempotency { .never }
    typealias Response = Nothing

    func resolve(_ conflict: OutboxConflict, in scope: OutboxScope) async throws -> OutboxResolution<Self> {
      try await scope.send(GetOrder()) == "open" ? .merged(self) : .keepTheirs
    }

    func reconcile(in scope: OutboxScope) async throws -> OutboxFate {
      try await scope.send(GetOrder()) == "open" ? .notCarriedOut : .carriedOut()
    }
  }

  @Test(arguments: [(412, OutboxState.cancelled), (500, .delivered)])
  func `decision reads no stored response`(status: Int, end: OutboxState) async throws {
    let order = Locked("open")
    let fixture = try OutboxFixture { request in
      request.method == "GET" ? .ok(order.withLock { $0 }) : .status(status)
    }
    #expect(try await fixture.client.send(GetOrder()) == "open")
    order.withLock { $0 = "paid" }
    let outbox = try fixture.open([Order.self])
    let receipt = try await outbox.add(Order())
    #expect(try await fixture.advance(outbox, to: receipt.id, end))
    let methods = fixture.server.requests.map(\.method)
    // The clock may pass the deadline of a question, which is then asked again.
    #expect(methods.starts(with: ["GET", "PUT", "GET"]) && methods.count { $0 == "PUT" } == 1)
    await outbox.close()
  }

  @Test func `entry is not answered by a stored response`() async throws {
    struct Ping: OutboxRequest {
      var path: Path { "/ping" }
      var method: HTTPMethod { .post }
      var cache: CachePolicy { .lifetime(.seconds(86_400)) }
      var idempotency: Idempotency { .never }
      typealias Response = String
    }
    let fixture = try OutboxFixture { _ in .ok("pong") }
    let outbox = try fixture.open([Ping.self])
    for _ in 1...2 { #expect(try await outbox.add(Ping()).outcome.isDelivered) }
    #expect(fixture.server.requests.count == 2)
    await outbox.close()
  }
}
