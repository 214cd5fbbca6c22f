import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 25 and 26: the cache's reports, cookies and content codings.
struct Rule25ReportTests {
  @Test(
    arguments: [
      (.hit(.fresh, secondsLeft: 52), "Errand; hit; ttl=52", "The stored response is fresh for 52 seconds."),
      (.hit(.fresh, secondsLeft: 1), "Errand; hit; ttl=1", "The stored response is fresh for 1 second."),
      (
        .hit(.staleWhileRevalidate, secondsLeft: -3), "Errand; hit; ttl=-3; detail=stale-while-revalidate",
        "The stored response was stale for 3 seconds; the server's stale-while-revalidate allows serving it."
      ),
      (
        .hit(.staleAllowed, secondsLeft: -3), "Errand; hit; ttl=-3; detail=max-stale",
        "The stored response is stale; the request's max-stale allows serving it."
      ),
      (
        .hit(.staleAllowed, secondsLeft: 50), "Errand; hit; ttl=50; detail=max-stale",
        "The request's max-age or min-fresh excludes the stored response; the request's max-stale allows serving it."
      ),
      (
        .hit(.unvalidated, secondsLeft: 52), "Errand; hit; ttl=52; detail=no-cache",
        "The stored response is fresh for 52 seconds; the call accepts it although no-cache requires a validation."
      ),
      (
        .hit(.anyAge, secondsLeft: .min), "Errand; hit; detail=any-age",
        "The stored response is stale, and the call accepts a response of any age."
      ),
      (
        .fallback(.miss(.expired), status: 503, secondsLeft: -9),
        "Errand; fwd=stale; fwd-status=503; ttl=-9; detail=stale-if-error",
        "The server failed or could not be reached, so the stored response is served."
      ),
      (
        .fallback(.requested, status: nil, secondsLeft: 9), "Errand; fwd=request; ttl=9; detail=stale-if-error",
        "The server failed or could not be reached, so the stored response is served."
      ),
      (
        .validated(.miss(.expired), secondsLeft: 60), "Errand; fwd=stale; fwd-status=304; ttl=60",
        "The server confirmed the stored response."
      ),
      (
        .validated(.requested, secondsLeft: 60, collapsed: true),
        "Errand; fwd=request; fwd-status=304; ttl=60; collapsed",
        "The server confirmed the stored response. This call shared the response of another call."
      ),
      (
        .forwarded(.miss(.missing), status: 200, stored: true, collapsed: false),
        "Errand; fwd=miss; fwd-status=200; stored; detail=missing",
        "The request was sent to the server: nothing is stored for this request."
      ),
      (
        .forwarded(.miss(.missing), status: 200, stored: false, collapsed: true),
        "Errand; fwd=miss; fwd-status=200; collapsed; detail=missing",
        "The request was sent to the server: nothing is stored for this request. This call shared the response of another call."
      ),
      (
        .forwarded(.changed(.miss(.expired)), status: 200, stored: true, collapsed: false),
        "Errand; fwd=stale; fwd-status=200; stored; detail=changed",
        "The request was sent to the server: the stored response was validated, and the server sent a new response."
      ),
      (
        .forwarded(.bypass(.method), status: nil, stored: false, collapsed: false), "Errand; fwd=method; detail=method",
        "The request was sent to the server: responses to this method are not served from the cache."
      ),
      (
        .unanswered(.unavailable(cause: "No space left on device")), "Errand; fwd=miss; detail=unavailable",
        "The cache served no response: the cache store cannot be used (No space left on device)."
      ),
      (
        .refused(.miss(.otherAccount)), "Errand; detail=other-account",
        "No response was served: the response was stored for another account."
      ),
    ] as [(CacheStatus, String, String)])
  func `rule 25: Cache-Status and one sentence`(status: CacheStatus, value: String, sentence: String) {
    #expect(status.value == value)
    #expect(status.sentence == sentence)
  }

  @Test func `every reason has its own text`() {
    let forwards =
      CacheMiss.allCases.map(CacheForward.miss) + CacheBypass.allCases.map(CacheForward.bypass)
      + [.requested, .changed(.requested), .unavailable(cause: "Input/output error")]
    let tokens: Set = ["bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale", "partial"]
    #expect(forwards.allSatisfy { tokens.contains($0.token) && ASCII.isToken($0.detail) })
    // `disabled` has the same text as a miss and as a bypass.
    #expect(Set(forwards.map(\.reason)).count == forwards.count - 1)
  }

  @Test func `rule 25: no Warning is added`() throws {
    let head = Scene.stored("Cache-Control: max-age=5, stale-while-revalidate=60")
    #expect(!CacheRules.served(head, at: Scene.at(10)).fields.contains("Warning"))
  }

  @Test func `rule 26: stored responses have no cookies`() throws {
    let response = Scene.response(200, "Cache-Control: max-age=60 | Set-Cookie: a=MARKER | Content-Encoding: gzip")
    guard case .store(let head) = try Scene.rules().storing(response) else {
      Issue.record("not stored")
      return
    }
    let served = CacheRules.served(head, at: Scene.at(1)).fields
    #expect(!served.contains(.setCookie) && served[.contentEncoding] == "gzip")
  }
}
