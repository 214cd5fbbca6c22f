@testable import ErrandCore
import Testing

/// The sentence of each kind of decision.
struct CallDecisionTests {
  private typealias Age = CallDecision.StoredAge

  private static let old = Age(age: .seconds(61), lifetime: .seconds(60), source: .response)

  private func origin(_ host: String) throws -> HTTPURL.Origin { try HTTPURL("https://\(host)/").origin }

  @Test(
    arguments: [
      (.served(.fresh, old, refresh: .none), "served fresh from the cache: 61 s old, max-age 60 s"),
      (
        .served(.staleWhileRevalidate(.seconds(30)), old, refresh: .started),
        "served stale: 61 s old, max-age 60 s, stale-while-revalidate 30 s; refresh started"
      ),
      (
        .served(.maxStale(nil), old, refresh: .notStarted),
        "served stale: 61 s old, max-age 60 s, max-stale of the request; no refresh started, because one is running or "
          + "failed recently"
      ),
      (
        .served(.withoutValidation, old, refresh: .none),
        "served without the validation that no-cache requires, as the call wants: 61 s old, max-age 60 s"
      ),
      (
        .served(.anyAge, Age(age: nil, lifetime: .zero, source: .unknown), refresh: .none),
        "served stale, as the call accepts any age: age unknown, without a lifetime"
      ),
      (
        .served(.staleIfError, Age(age: .seconds(2), lifetime: .seconds(1), source: .lastModified), refresh: .none),
        "served stale, because the server failed: 2 s old, lifetime 1 s by Last-Modified"
      ),
      (
        .validating(Age(age: .seconds(2), lifetime: .seconds(1), source: .request)),
        "asked the server whether the stored response is still valid: 2 s old, lifetime 1 s by the request"
      ),
      (.revalidated(freshFor: .seconds(5)), "served from the cache after status 304: fresh for 5 s"),
      (.revalidated(freshFor: nil), "served from the cache after status 304"),
      (.notServed(.missing, reason: "nothing is stored"), "not served from the cache: nothing is stored"),
      (.stored(freshFor: .zero), "stored in the cache: stale from the start"),
      (.notStored(reason: "no-store"), "not stored in the cache: no-store"),
    ] as [(CallDecision.CacheStep, String)])
  func `cache steps name their numbers`(step: CallDecision.CacheStep, sentence: String) {
    #expect(CallDecision.cache(step).description == sentence)
  }

  @Test func `waits name the places taken`() throws {
    let origin = try origin("api.example.com")
    let table: [(CallDecision.AdmissionShortage, String)] = [
      (
        .host(origin, taken: 6, of: 6, by: [811, 812, 813, 814]),
        "waited 420 ms: 6 of 6 places at api.example.com were taken by calls 811, 812, 813 …"
      ),
      (
        .total(taken: 1, of: 1, by: [7]), "waited 420 ms: 1 of 1 places of the client were taken by call 7"
      ),
      (.host(origin, taken: 2, of: 2, by: []), "waited 420 ms: 2 of 2 places at api.example.com were taken"),
      (.rate(origin), "waited 420 ms: the rate limit of api.example.com was reached"),
      (.queue(origin, ahead: 1), "waited 420 ms: 1 call to api.example.com waited already"),
    ]
    for (shortage, sentence) in table {
      #expect(CallDecision.waited(.milliseconds(420), shortage).description == sentence)
    }
  }

  @Test func `missing retries name their reason`() throws {
    let budget = try origin("h.example")
    let table: [(CallDecision.RetryObstacle, String)] = [
      (.policy, "the retry policy is `.none`"), (.status, "the retry policy does not list this status"),
      (.permanent, "another attempt would fail in the same way"),
      (.notIdempotent, "the server may have processed the POST request, and it has no idempotency key"),
      (.attempts(1), "the retry policy allows one attempt"), (.attempts(3), "all 3 attempts are used"),
      (.bodyUsedUp, "the request body cannot be sent again"),
      (.delivered, "a part of the response was already delivered"),
      (.storedResponse, "a stored response can be served instead"),
      (
        .retryAfter(.seconds(120), limit: .seconds(60)), "Retry-After asks for 120 s, more than the limit of 60 s"
      ),
      (
        .deadline(wait: .seconds(2), left: .milliseconds(1_500)),
        "the wait of 2 s would not end before the deadline in 1.5 s"
      ),
      (.budget(budget), "the retry budget of https://h.example is used up"),
    ]
    for (obstacle, clause) in table {
      let decision = CallDecision.notRetried(.status(503), .post, because: obstacle)
      #expect(decision.description == "not retried after status 503: \(clause)")
    }
    let never = CallDecision.notRetried(.failure(.reset), .get, because: .notIdempotent)
    #expect(
      never.description
        == "not retried after reset: the server may have processed the GET request, and its `idempotency` is `.never`")
  }

  @Test func `credential decisions name their cause`() {
    let table: [(CallDecision.RefreshResult, String)] = [
      (.refreshed, "refreshed the credential: status 401"),
      (.waited, "used the credential that another call refreshed: status 401"),
      (.alreadyNewer, "used a credential that was refreshed in the meantime: status 401"),
      (.failed("No network."), "could not refresh the credential after status 401: No network."),
      (.refreshedBefore, "credential not refreshed after status 401: this call has refreshed it before"),
      (
        .notPossible,
        "credential not refreshed after status 401: no provider can refresh the credential of this request"
      ),
      (.bodyUsedUp, "credential not refreshed after status 401: the request body cannot be sent again"),
      (.delivered, "credential not refreshed after status 401: a part of the response was already delivered"),
      (.refused, "credential not refreshed after status 401: no newer credential is available"),
    ]
    for (result, sentence) in table { #expect(CallDecision.refreshed(.rejected, result).description == sentence) }
    #expect(
      CallDecision.refreshed(.expiring, .refreshed).description == "refreshed the credential: it expires soon")
    #expect(
      CallDecision.refreshed(.rejectedInBody, .refused).description
        == "credential not refreshed after a response rejected it: no newer credential is available")
  }

  @Test func `other decisions are one sentence`() throws {
    let (first, second) = (try origin("a.example"), try origin("b.example"))
    let redirect = CallDecision.Redirect(
      status: 302, target: "https://b.example/x?code=•••", method: .post, newMethod: .get,
      removesSecrets: true)
    let route = CallDecision.Route(
      transport: "EngineTransport", choice: .platform, isConnectionReused: true, address: "10.0.0.1:443")
    let named = CallDecision.Route(
      transport: "CurlTransport", choice: .named("curl"), isConnectionReused: nil, address: nil)
    let table: [(CallDecision, String)] = [
      (.joined(call: 812), "joined the exchange of call 812"),
      (.notJoined(.streamedBody), "shared no exchange: the request body is streamed"),
      (.notJoined(.insideProvider), "shared no exchange: a credential provider sent the call"),
      (.notJoined(.insideExchange), "shared no exchange: an exchange interceptor sent the call"),
      (.notJoined(.unknownAccount), "shared no exchange: the response may belong to another account"),
      (
        .retried(.status(503), attempt: 2, of: 3, after: .milliseconds(420)),
        "retried after 420 ms: status 503, attempt 2 of 3"
      ),
      (.retried(.slow, attempt: 2, of: 3, after: .zero), "retried at once: slow, attempt 2 of 3"),
      (
        .circuitOpen(first, for: .seconds(3)),
        "rejected by the circuit breaker: too many calls to https://a.example failed; it tries again in at most 3 s"
      ),
      (
        .redirected(redirect),
        "followed the redirect with status 302 to https://b.example/x?code=•••, as GET instead of POST, without "
          + "credentials"
      ),
      (.notRedirected(status: 302, reason: "a loop"), "redirect with status 302 not followed: a loop"),
      (
        .failedOver(.status(503), from: first, to: second),
        "sent to https://b.example instead: https://a.example failed (status 503)"
      ),
      (.hedged(after: .microseconds(20)), "sent a second time in parallel: no response within 20 µs"),
      (
        .notHedged(after: .microseconds(2_500), first),
        "not sent a second time: no response within 2.5 ms, but the retry budget of https://a.example is used up"
      ),
      (.sentAgain(interceptor: "Polling"), "sent again by the interceptor Polling"),
      (.download(.resumed(at: 5, of: 9)), "resumed the download at byte 5 of 9"),
      (.download(.resumed(at: 5, of: nil)), "resumed the download at byte 5"),
      (.download(.whole(reason: "no file")), "requested the whole file: no file"),
      (.download(.startedOver(reason: "x")), "started the download again from the beginning: x"),
      (.download(.existing(bytes: 9)), "requested nothing: the existing file of 9 bytes counts as the download"),
      (.sent(route), "sent by EngineTransport (the transport of the platform) on a reused connection to 10.0.0.1:443"),
      (.sent(named), "sent by CurlTransport (the configuration names \"curl\")"),
      (.deadlinePassed(limit: .seconds(2)), "stopped: the total time-out of 2 s passed"),
      (.deadlinePassed(limit: nil), "stopped: the deadline of the group passed"),
      (.cancelled(nil), "cancelled by the app"), (.cancelled("Logged out."), "cancelled: Logged out."),
    ]
    for (decision, sentence) in table { #expect(decision.description == sentence) }
  }

  @Test func `sentence stays on one line`() {
    #expect(CallDecision.cancelled("a\nb").description == "cancelled: a\\u{a}b")
  }

  @Test(arguments: [
    (Duration.zero, "0 µs"), (.microseconds(999), "999 µs"), (.microseconds(1_000), "1 ms"),
    (.microseconds(1_240), "1.2 ms"), (.milliseconds(10), "10 ms"), (.milliseconds(999), "999 ms"),
    (.milliseconds(1_000), "1 s"), (.milliseconds(61_049), "61 s"), (.milliseconds(-1_500), "-1.5 s"),
    (.seconds(Int64.max), "9223372036.8 s"),
  ])
  func `durations have a readable unit`(duration: Duration, text: String) {
    #expect(CallDecision.text(duration) == text)
  }
}

/// The bounds of the ring and of the notes of a call.
struct FlightRingTests {
  private func ring(_ count: Int, limits: [Int]) -> [Int] {
    var ring = Ring<Int>()
    for number in 0..<count { ring.append(number, limit: limits[number % limits.count]) }
    return ring.elements
  }

  @Test(arguments: 0...20, 1...6) func `ring keeps the newest elements`(count: Int, limit: Int) {
    #expect(ring(count, limits: [limit]) == Array((0..<count).suffix(limit)))
  }

  @Test func `smaller limit drops the oldest`() {
    #expect(ring(7, limits: [5, 5, 5, 5, 5, 5, 2]) == [5, 6])
    #expect(ring(3, limits: [2, 2, 0]).isEmpty)
  }

  @Test func `events of a call are bounded`() {
    let notes = FlightNotes(bodyLimit: 0)
    for _ in 0..<FlightNotes.mostEvents + 3 { notes.add(.cancelled(nil), at: MonotonicInstant(nanoseconds: 0)) }
    #expect(notes.snapshot.events.count == FlightNotes.mostEvents && notes.snapshot.omitted == 3)
  }

  @Test func `later end of an exchange is ignored`() throws {
    let notes = FlightNotes(bodyLimit: 0)
    let exchange = notes.begin(try HTTPRequest(url: "http://h/"), at: MonotonicInstant(nanoseconds: 0))
    let snapshot = notes.snapshot
    exchange.failed(TransportFailure(.reset, "reset"), at: MonotonicInstant(nanoseconds: 5))
    guard case .exchange(let recorded) = snapshot.events.first?.content else {
      Issue.record("the exchange is missing")
      return
    }
    #expect(recorded.end.failure == nil && exchange.end.failure != nil)
  }

  @Test func `events of a shared exchange are sorted in`() {
    let (call, exchange) = (FlightNotes(bodyLimit: 0), FlightNotes(bodyLimit: 0))
    call.add(.joined(call: 1), at: MonotonicInstant(nanoseconds: 20))
    exchange.add(.hedged(after: .zero), at: MonotonicInstant(nanoseconds: 10))
    call.take(exchange)
    #expect(call.snapshot.ordered.map(\.moment.nanoseconds) == [10, 20])
  }
}
