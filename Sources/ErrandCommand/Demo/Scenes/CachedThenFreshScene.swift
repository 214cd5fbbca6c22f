import Errand
import ErrandTesting

struct CachedThenFreshScene: DemoScene {
  let title = "Cached, then fresh: a stored value at once, and the new one when it arrives"
  let source = SceneSource()

  // shown: begin
  struct Feed: APIRequest {
    var path: Path { "/feed" }
    var cache: CachePolicy { .http }
    struct Response: Decodable, Sendable { let headline: String }
  }
  // shown: end

  /// A page that a call delivered: the number of the call, the headline, and the origin of the page.
  private struct Page: Equatable {
    let opening: Int
    let headline: String
    let origin: ResponseOrigin

    init(_ opening: Int, _ headline: String, _ origin: ResponseOrigin) {
      self.opening = opening
      self.headline = headline
      self.origin = origin
    }
  }

  private let counter = TurnCounter()

  /// Returns the response of the server. The headline changes after the first response. The third request contains the
  /// entity tag of the new headline, so the server responds with status 304 (Not Modified).
  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    let headline = counter.next() == 1 ? "Rain" : "Sun"
    let tag = "\"\(headline.lowercased())\""
    let fields: LoopbackHeaders = [
      "Content-Type": "application/json", "Cache-Control": "max-age=60", "ETag": tag,
    ]
    return request.headers["If-None-Match"] == tag
      ? .status(304, headers: fields) : .status(200, headers: fields, body: #"{"headline": "\#(headline)"}"#)
  }

  @MainActor func play(on stage: Stage) async throws {
    counter.reset()
    let client = stage.client
    let shown = EventCollector<Page>()
    // shown: begin
    for opening in 1...3 {
      for try await page in client.cachedThenFresh(Feed()) {
        shown.append(Page(opening, page.value.headline, page.origin))
      }
    }
    // shown: end

    for request in stage.requests() { stage.showSent(request, fields: ["If-None-Match", "Cache-Control"]) }
    for page in shown.entries {
      stage.showReceived("opening \(page.opening): “\(page.headline)” from \(page.origin.rawValue)")
    }
    let pages = shown.entries
    stage.expect(
      "if nothing is stored, the call delivers one value, which comes from the server",
      pages.filter { $0.opening == 1 } == [Page(1, "Rain", .network)])
    stage.expect(
      "if a value is stored, the call delivers the stored value first and then the new value",
      pages.filter { $0.opening == 2 }.map(\.headline) == ["Rain", "Sun"]
        && pages.first { $0.opening == 2 }?.origin.isFromCache == true)
    stage.expect(
      "if nothing changed (304), there is only one value",
      pages.filter { $0.opening == 3 }.map(\.headline) == ["Sun"])
    stage.expect("the server received a request for each of the three calls", stage.requests().count == 3)
  }
}
