import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Each kind of decision, provoked in a call.
struct FlightDecisionTests {
  private typealias Get = FlightFixture.Get

  private static let missing = "not served from the cache: nothing is stored for this request"
  private static let atOnce = RetryPolicy(firstDelay: .zero, busyDelay: .zero)

  // MARK: - Cache

  private func cached(_ control: String, then second: ScriptedAnswer = .text("new")) -> FlightFixture {
    FlightFixture { _, number in
      number > 1 ? second : .text("page", fields: ["Cache-Control": control, "ETag": "\"1\""])
    }
  }

  @Test func `hit names age and lifetime`() async {
    let fixture = cached("max-age=60")
    #expect(await fixture.why(Get(cache: .http)) == [Self.missing, "stored in the cache: fresh for 60 s"])
    fixture.pass(12)
    #expect(await fixture.why(Get(cache: .http)) == ["served fresh from the cache: 12 s old, max-age 60 s"])
  }

  @Test func `stale hit names its limit`() async {
    let fixture = cached("max-age=60, stale-while-revalidate=30")
    _ = await fixture.why(Get(cache: .http))
    fixture.pass(61)
    #expect(
      await fixture.why(Get(cache: .http)) == [
        "served stale: 61 s old, max-age 60 s, stale-while-revalidate 30 s; refresh started"
      ])
  }

  @Test func `revalidation names both steps`() async {
    let fixture = cached("max-age=60", then: .status(304, fields: ["ETag": "\"1\"", "Cache-Control": "max-age=90"]))
    _ = await fixture.why(Get(cache: .http))
    fixture.pass(61)
    #expect(
      await fixture.why(Get(cache: .http)) == [
        "asked the server whether the stored response is still valid: 61 s old, max-age 60 s",
        "served from the cache after status 304: fresh for 90 s",
      ])
  }

  @Test func `expiry without a validator is named`() async {
    let fixture = FlightFixture { _, _ in .text("page", fields: ["Cache-Control": "max-age=60"]) }
    _ = await fixture.why(Get(cache: .http))
    fixture.pass(61)
    #expect(
      await fixture.why(Get(cache: .http)) == [
        "not served from the cache: the stored response had expired", "stored in the cache: fresh for 60 s",
      ])
  }

  @Test func `failing server is named`() async {
    let fixture = cached("max-age=60, stale-if-error=600", then: .status(503))
    _ = await fixture.why(Get(cache: .http))
    fixture.pass(61)
    #expect(
      await fixture.why(Get(cache: .http)) == [
        "asked the server whether the stored response is still valid: 61 s old, max-age 60 s",
        "not stored in the cache: the server failed, and the stored response may be served instead",
        "served stale, because the server failed: 61 s old, max-age 60 s",
      ])
  }

  @Test func `refusal to store is named`() async {
    let fixture = cached("no-store")
    #expect(
      await fixture.why(Get(cache: .http)) == [
        Self.missing, "not stored in the cache: the request or the response has no-store",
      ])
  }

  @Test func `unread cache is named`() async {
    let fixture = cached("max-age=60")
    #expect(
      await fixture.why(Get(cache: .http), options: .cache(.ignoringCache)) == [
        "not served from the cache: this call does not read from the cache", "stored in the cache: fresh for 60 s",
      ])
    #expect(
      await fixture.why(Get(path: "/other", cache: .http), options: .cache(.cacheOnly)) == [Self.missing])
  }

  // MARK: - Retries

  @Test func `retries name attempt and reason`() async {
    let fixture = FlightFixture {
      $0.retries = Self.atOnce
    } answer: { _, _ in
      .status(503)
    }
    #expect(
      await fixture.why() == [
        "retried at once: status 503, attempt 2 of 3", "retried at once: status 503, attempt 3 of 3",
        "not retried after status 503: all 3 attempts are used",
      ])
    #expect(
      await fixture.why(Get(method: .post, body: .text("body"))) == [
        "not retried after status 503: the server may have processed the POST request, and it has no idempotency key"
      ])
    #expect(
      await fixture.why(Get(retries: .none)) == ["not retried after status 503: the retry policy is `.none`"])
  }

  @Test func `successful call has no retry decision`() async {
    let fixture = FlightFixture {
      $0.retries = Self.atOnce
    } answer: { _, _ in
      .text("ok")
    }
    #expect(await fixture.why().isEmpty)
  }

  @Test func `too long Retry-After is named`() async {
    let fixture = FlightFixture {
      $0.retries = Self.atOnce
    } answer: { _, _ in
      .status(503, fields: ["Retry-After": "120"])
    }
    #expect(
      await fixture.why() == [
        "not retried after status 503: Retry-After asks for 120 s, more than the limit of 60 s"
      ])
  }

  @Test func `exhausted budget is named`() async {
    let fixture = FlightFixture {
      $0.retries = RetryPolicy(attempts: 1_000, firstDelay: .zero)
    } answer: { _, _ in
      .failure(.reset)
    }
    #expect(
      await fixture.why().last == "not retried after reset: the retry budget of http://h.example is used up")
  }

  private struct Twice: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      _ = try await next(request)
      return try await next(request)
    }
  }

  @Test(arguments: [true, false]) func `interceptor that sends again is named`(ofCalls: Bool) async {
    let fixture = FlightFixture {
      if ofCalls { $0.interceptors.calls = [Twice()] } else { $0.interceptors.exchanges = [Twice()] }
    } answer: { _, _ in
      .text("ok")
    }
    #expect(await fixture.why() == ["sent again by the interceptor Twice"])
    #expect(fixture.client.flightRecord.calls.last?.exchanges.count == 2)
  }

  // MARK: - Circuit breaker, redirects

  @Test func `open circuit is named`() async {
    let fixture = FlightFixture {
      var rule = BreakerRule()
      (rule.least, rule.window) = (2, 4)
      $0.servers.breaker = rule
    } answer: { _, _ in
      .status(500)
    }
    for _ in 0..<2 { _ = await fixture.why() }
    let sentences = await fixture.why()
    #expect(sentences.count == 1)
    #expect(
      sentences.first?.hasPrefix("rejected by the circuit breaker: too many calls to http://h.example failed") == true)
  }

  @Test func `redirects name target and change`() async {
    let fixture = FlightFixture {
      $0.headers = ["X-Key": .secret("abcdefgh")]
    } answer: { _, number in
      number == 1 ? .redirect(to: "http://other.example/b?code=12345678") : .text("ok")
    }
    #expect(
      await fixture.why(Get(method: .post)) == [
        "followed the redirect with status 302 to http://other.example/b?code=•••, as GET instead of POST, without "
          + "credentials"
      ])
  }

  @Test func `refused redirect names its reason`() async {
    let fixture = FlightFixture { _, _ in .redirect(to: "/b") }
    #expect(
      await fixture.why(Get(redirects: .never)) == [
        "redirect with status 302 not followed: The server redirected with status 302, but the redirect policy is "
          + "`RedirectPolicy.never`."
      ])
    #expect(
      await fixture.why(Get(redirects: .manual)) == [
        "redirect with status 302 not followed: the redirect policy is `RedirectPolicy.manual`"
      ])
  }

  // MARK: - Credentials

  private struct Tokens: RefreshingProvider {
    let present: Recorded<Int>
    var account: String? { "ada" }
    func credential(for account: String?) async throws -> Credential? { .bearer("token-\(present.count)") }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      present.append(1)
      return .bearer("token-\(present.count)")
    }
  }

  @Test func `refresh is named`() async {
    let fixture = FlightFixture {
      $0.credentials = Tokens(present: Recorded())
    } answer: { request, _ in
      request.fields[.authorization] == "Bearer token-1" ? .text("ok") : .status(401)
    }
    #expect(await fixture.why() == ["refreshed the credential: status 401"])
    #expect(
      await fixture.why(Get(credential: .bearer("abcdefgh"))) == [
        "credential not refreshed after status 401: no provider can refresh the credential of this request"
      ])
  }

  // MARK: - The end

  @Test func `deadline and cancellation are named`() async {
    let latch = Latch()
    let fixture = FlightFixture { _, _ in
      try await latch.wait()
      return .text("late")
    }
    async let ending = fixture.client.outcome(of: Get(), options: .deadline(.seconds(2)))
    #expect(await eventually { fixture.clock.pending > 0 && fixture.client.running.count == 1 })
    fixture.pass(2)
    #expect(await ending.error?.code == .deadline)
    #expect(fixture.client.flightRecord.decisions == ["stopped: the total time-out of 2 s passed"])

    let call = fixture.client.start(outcomeOf: Get(), on: .inPlace) { _ in }
    call.cancel()
    #expect(await eventually { fixture.client.flightRecord.calls.count == 2 })
    #expect(fixture.client.flightRecord.decisions == ["cancelled by the app"])
    latch.open()
  }
}
