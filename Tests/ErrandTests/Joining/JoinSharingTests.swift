import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// The calls that share an exchange, and the calls that never do.
struct JoinSharingTests {
  /// The number of exchanges of two calls. The first call runs when the second one starts.
  private func exchanges(
    _ first: JoinText, _ second: JoinText, options: CallOptions = CallOptions(),
    _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) async -> Int {
    let fixture = JoinFixture(change)
    let one = Task { await fixture.client.outcome(of: first) }
    await fixture.exchange.reached()
    let other = Task { await fixture.client.outcome(of: second, options: options) }
    _ = await eventually(turns: 20_000) { fixture.exchanges.waiting == 2 || fixture.asked == 2 }
    fixture.exchange.open()
    #expect(await one.value.error == nil)
    #expect(await other.value.error == nil)
    #expect(await fixture.isIdle())
    return fixture.asked
  }

  @Test func `equal calls share an exchange`() async {
    #expect(await exchanges(JoinText(), JoinText()) == 1)
  }

  @Test(arguments: [
    JoinText(path: "/other"), JoinText(method: .head), JoinText(arguments: ["q": 1]),
    JoinText(headers: ["Accept-Language": "de"]), JoinText(headers: ["Range": "bytes=0-3"]),
    JoinText(headers: ["If-None-Match": "\"a\""]), JoinText(credential: .bearer("other")),
    JoinText(credential: .none), JoinText(timeouts: Timeouts(connect: .seconds(3))),
    JoinText(timeouts: Timeouts(idle: .seconds(3))), JoinText(redirects: RedirectPolicy.never),
    JoinText(network: NetworkWish(avoidsCellular: true)), JoinText(retries: RetryPolicy(attempts: 5)),
    JoinText(idempotency: .never), JoinText(cache: .http),
    JoinText(cache: .inherited.keyed(by: CacheKeyRule(leavingOut: ["at"]))), JoinText(joining: .never),
  ])
  func `different call has its own exchange`(other: JoinText) async {
    var other = other
    if other.method == .head { other.statusRule = .any }
    #expect(await exchanges(JoinText(), other) == 2)
    #expect(await exchanges(other, JoinText()) == 2)
  }

  @Test(arguments: [
    JoinText(timeouts: Timeouts(total: .seconds(5))), JoinText(statusRule: StatusRule.any),
  ])
  func `caller's own settings may differ`(other: JoinText) async {
    #expect(await exchanges(JoinText(), other) == 1)
    #expect(await exchanges(other, JoinText()) == 1)
  }

  @Test func `options of the call may differ`() async {
    let options = CallOptions(priority: .high, owner: nil, tag: "tag", accessories: [Noter("call", Recorded())])
    #expect(await exchanges(JoinText(), JoinText(), options: options) == 1)
  }

  @Test func `POST joins only if requested`() async {
    let post = JoinText(method: .post)
    #expect(await exchanges(post, post) == 2)
    #expect(await exchanges(JoinText(method: .post, cache: .lifetime(.seconds(60))), post) == 2)
    let joining = JoinText(method: .post, arguments: ["q": 1], joining: .always)
    #expect(await exchanges(joining, joining) == 1)
    var other = joining
    other.arguments = ["q": 2]
    #expect(await exchanges(joining, other) == 2, "the body is part of the key")
  }

  @Test func `one call may override joining`() async {
    #expect(await exchanges(JoinText(), JoinText(), options: CallOptions(joining: .never)) == 2)
    #expect(
      await exchanges(JoinText(), JoinText(joining: .never), options: CallOptions(joining: .safe)) == 1)
  }

  @Test func `client may turn joining off`() async {
    #expect(await exchanges(JoinText(), JoinText()) { $0.overlap.joining = .never } == 2)
    #expect(await exchanges(JoinText(joining: .safe), JoinText(joining: .safe)) { $0.overlap.joining = .never } == 1)
    #expect(await exchanges(JoinText(), JoinText()) { $0.overlap.joining = .inherited } == 1)
  }

  @Test func `excluded arguments do not count`() async {
    let policy = CachePolicy.inherited.keyed(by: CacheKeyRule(leavingOut: ["at"]))
    let (one, other) = (
      JoinText(arguments: ["q": 1, "at": 1], cache: policy), JoinText(arguments: ["q": 1, "at": 2], cache: policy)
    )
    #expect(await exchanges(one, other) == 1)
    var another = other
    another.arguments = ["q": 2, "at": 1]
    #expect(await exchanges(one, another) == 2)
  }

  @Test func `excluded form arguments do not count`() async {
    let policy = CachePolicy.inherited.keyed(by: CacheKeyRule(leavingOut: ["at"]))
    let posts = [1, 2].map { at in
      JoinText(method: .post, arguments: ["q": 1, "at": at], cache: policy, joining: .always)
    }
    #expect(await exchanges(posts[0], posts[1]) == 1)
  }

  @Test func `read modes do not share`() async {
    let page = JoinText(cache: .http)
    #expect(await exchanges(page, page) == 1)
    for mode in [CacheReadMode.ignoringCache, .withoutCache, .revalidating, .networkElseCached] {
      #expect(await exchanges(page, page, options: .cache(mode)) == 2, "\(mode)")
    }
    #expect(await exchanges(page, page, options: .tag("kept")) == 2, "the stored response has the tag")
  }

  /// Returns the account that the test sets.
  private struct Provider: CredentialProvider {
    let name: Recorded<String?>
    var isNamed = true
    var account: String? { isNamed ? name.all.last ?? nil : nil }
    func credential(for account: String?) async throws -> Credential? {
      (name.all.last ?? nil).map { .bearer($0) }
    }
  }

  @Test(arguments: [true, false]) func `two accounts do not share`(isNamed: Bool) async {
    let name = Recorded<String?>(["ada"])
    let fixture = JoinFixture {
      $0.credentials = Provider(name: name, isNamed: isNamed)
    } answer: {
      .text($0.fields[.authorization] ?? "nobody")
    }
    let ada = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached()
    name.append("bob")
    let bob = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached(2)
    fixture.exchange.open()
    #expect(await ada.value.value == "Bearer ada")
    #expect(await bob.value.value == "Bearer bob")
    #expect(await fixture.isIdle())
  }

  @Test func `calls of one account share`() async {
    let fixture = JoinFixture { $0.credentials = Provider(name: Recorded(["ada"])) }
    let calls = (0..<3).map { _ in Task { await fixture.client.outcome(of: JoinText()) } }
    #expect(await fixture.waiting(3))
    fixture.exchange.open()
    for call in calls { #expect(await call.value.value == "value") }
    #expect(fixture.asked == 1)
  }

  /// Adds a credential below every interceptor that could know the account, once the latch opens.
  private struct Stamp: Interceptor {
    let latch: Latch
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      try await latch.wait()
      var request = request
      request.fields.append(HTTPField(.cookie, "session=\(context.info.id)"))
      return try await next(request)
    }
  }

  @Test func `unknown credential separates the callers`() async {
    let stamping = Latch()
    let fixture = JoinFixture {
      $0.interceptors.exchanges = [Stamp(latch: stamping)]
    } answer: {
      .text($0.fields[.cookie] ?? "none")
    }
    let calls = (0..<3).map { _ in Task { await fixture.client.outcome(of: JoinText()) } }
    #expect(await fixture.waiting(3))
    stamping.open()
    await fixture.exchange.reached(3)
    fixture.exchange.open()
    var values: Set<String> = []
    for call in calls {
      let outcome = await call.value
      values.insert(outcome.value ?? "failed")
      #expect(outcome.metrics.attempts == 1 && !outcome.metrics.isJoined)
    }
    #expect(values.count == 3, "each call has a separate response: \(values)")
    #expect(await fixture.isIdle())
  }

  @Test func `changed configuration separates calls`() async {
    let fixture = JoinFixture()
    let first = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached()
    fixture.client.configure { $0.validation.status = .any }
    let second = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached(2)
    fixture.exchange.open()
    for task in [first, second] { #expect(await task.value.value == "value") }
  }

  private final class Drop: BodySink {
    let bytes = Recorded<Int>()
    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) -> Bool {
      bytes.append(piece.count)
      return true
    }
    func end() {}
  }

  @Test func `call with body sink does not share`() async {
    let fixture = JoinFixture()
    let sinks = [Drop(), Drop()]
    let calls = sinks.map { sink in
      Task { await fixture.client.outcome(of: JoinText(), options: CallOptions(bodySink: sink)) }
    }
    await fixture.exchange.reached(2)
    #expect(fixture.exchanges == (0, 0))
    fixture.exchange.open()
    for call in calls { #expect(await call.value.error == nil) }
    #expect(sinks.allSatisfy { $0.bytes.all.reduce(0, +) == 5 })
  }

  @Test func `duplicate exchanges of one call are separate`() async {
    struct Twice: Interceptor {
      func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
        async let one = next(request)
        async let other = next(request)
        return try await [one, other][1]
      }
    }
    let fixture = JoinFixture { $0.interceptors.calls = [Twice()] }
    let call = Task { await fixture.client.outcome(of: JoinText()) }
    await fixture.exchange.reached(2)
    #expect(fixture.exchanges.exchanges == 1)
    fixture.exchange.open()
    #expect(await call.value.value == "value")
    #expect(await fixture.isIdle())
  }

  private struct ShopText: APIRequest {
    typealias Response = String
    let path: Path = "/text"
    var family: RequestFamily? { RequestFamily("shop", baseURL: "http://shop.example") }
  }

  @Test func `signed and unsigned calls do not share`() async {
    let fixture = JoinFixture { $0.interceptors.exchanges = [Signing { $0.fields["X-Signature"] = "signed" }] }
    let plain = Task { await fixture.client.outcome(of: JoinText(path: "http://shop.example/text")) }
    await fixture.exchange.reached()
    let signed = Task { await fixture.client.outcome(of: ShopText()) }
    _ = await eventually(turns: 20_000) { fixture.exchanges.waiting == 2 || fixture.asked == 2 }
    fixture.exchange.open()
    #expect(await plain.value.error == nil)
    #expect(await signed.value.error == nil)
    #expect(Set(fixture.transport.requests.map { $0.fields["X-Signature"] }) == [nil, "signed"])
  }

  /// The call has used up its refresh, so it must not depend on an exchange with the rejected credential.
  @Test func `refreshed call joins no older exchange`() async throws {
    let latch = Latch()
    let transport = ScriptedTransport { request in
      let isOld = request.fields[.authorization] == "Bearer old"
      if request.url.path == "/start" { return isOld ? .status(401) : .redirect(to: "/text") }
      if isOld { try await latch.wait() }
      return .text("value")
    }
    let accounts = CredentialStore { _, _ in AccountCredential(.bearer("new")) }
    try await accounts.login("ada", with: AccountCredential(.bearer("old")))
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.credentials = accounts
    let client = APIClient(configuration)
    let direct = Task { await client.outcome(of: JoinText()) }
    #expect(await eventually { transport.requests.count == 1 })
    let led = Task { await client.outcome(of: JoinText(path: "/start")) }
    #expect(await eventually { transport.requests.count == 4 })
    latch.open()
    #expect(await led.value.value == "value")
    #expect(await direct.value.value == "value")
  }
}
