import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 25 and 26: how the cache reports, cookies and codings.
@Suite struct Rule25ReportTests {
  @Test(
    arguments: [
      (.hit(.fresh, secondsLeft: 52), "Errand; hit; ttl=52", "The stored answer is fresh for 52 seconds."),
      (.hit(.fresh, secondsLeft: 1), "Errand; hit; ttl=1", "The stored answer is fresh for 1 second."),
      (
        .hit(.staleWhileRevalidate, secondsLeft: -3), "Errand; hit; ttl=-3; detail=stale-while-revalidate",
        "The stored answer has been stale for 3 seconds, is served meanwhile and is being refreshed."
      ),
      (
        .hit(.staleAllowed, secondsLeft: -3), "Errand; hit; ttl=-3; detail=max-stale",
        "The stored answer is stale by no more than the request puts up with."
      ),
      (
        .hit(.anyAge, secondsLeft: .min), "Errand; hit; detail=any-age",
        "The stored answer is stale, and the call takes it at any age."
      ),
      (
        .hit(.staleIfError, secondsLeft: -9), "Errand; hit; ttl=-9; detail=stale-if-error",
        "The server could not be reached or failed, and the stored answer may stand in for it."
      ),
      (
        .validated(secondsLeft: 60), "Errand; fwd=stale; fwd-status=304; ttl=60",
        "The server said that the stored answer still holds."
      ),
      (
        .forwarded(.miss(.missing), status: 200, stored: true, collapsed: false),
        "Errand; fwd=miss; fwd-status=200; stored; detail=missing",
        "The server was asked: nothing is stored for this request."
      ),
      (
        .forwarded(.miss(.missing), status: 200, stored: false, collapsed: true),
        "Errand; fwd=miss; fwd-status=200; collapsed; detail=missing",
        "The server was asked: nothing is stored for this request. Another call's answer was shared."
      ),
      (
        .forwarded(.changed, status: 200, stored: true, collapsed: false),
        "Errand; fwd=stale; fwd-status=200; stored; detail=changed",
        "The server was asked: the stored answer had to be asked about, and the server gave a new one."
      ),
      (
        .forwarded(.bypass(.method), status: nil, stored: false, collapsed: false), "Errand; fwd=method; detail=method",
        "The server was asked: answers to this method do not come from the cache."
      ),
      (
        .refused(.otherAccount), "Errand; detail=other-account",
        "Nothing was served: the answer was stored for another account."
      ),
    ] as [(CacheStatus, String, String)])
  func `rule 25: Cache-Status and one sentence`(status: CacheStatus, value: String, sentence: String) {
    #expect(status.value == value)
    #expect(status.sentence == sentence)
  }

  @Test func `every reason has its own words`() {
    let forwards =
      CacheMiss.allCases.map(CacheForward.miss) + CacheBypass.allCases.map(CacheForward.bypass) + [.changed]
    let tokens: Set = ["bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale", "partial"]
    #expect(forwards.allSatisfy { tokens.contains($0.token) && ASCII.isToken($0.detail) })
    // Disabled means the same whoever says so.
    #expect(Set(forwards.map(\.sentence)).count == forwards.count - 1)
  }

  @Test func `rule 25: no Warning is made`() throws {
    let head = Scene.stored("Cache-Control: max-age=5, stale-while-revalidate=60")
    #expect(!CacheQuestion.served(head, at: Scene.at(10)).fields.contains("Warning"))
  }

  @Test func `rule 26: answers with cookies are stored without them`() throws {
    let answer = Scene.answer(200, "Cache-Control: max-age=60 | Set-Cookie: a=MARKER | Content-Encoding: gzip")
    guard case .store(let head) = try Scene.ask().storing(answer) else {
      Issue.record("not stored")
      return
    }
    let served = CacheQuestion.served(head, at: Scene.at(1)).fields
    #expect(!served.contains(.setCookie) && served[.contentEncoding] == "gzip")
  }
}
