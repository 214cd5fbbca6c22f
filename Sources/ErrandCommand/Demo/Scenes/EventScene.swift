import Errand
import ErrandTesting

struct EventScene: DemoScene {
  let title = "Server-sent events: the stream breaks, and resumes after the last event"
  let source = SceneSource()

  // shown: begin
  struct Prices: APIRequest {
    var path: Path { "/prices" }
    typealias Response = Nothing
  }
  // shown: end

  struct Price: Decodable, Sendable { let cents: Int }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
    if last == 4 { return .status(204) }
    let events = (last + 1...last + 2).map { "id: \($0)\ndata: {\"cents\": \($0 * 100)}\n\n" }
    let body = "retry: 1\n" + events.joined() + "data: {\"cents\""
    return .status(200, headers: ["Content-Type": "text/event-stream"], body: body).cut(after: body.utf8.count - 1)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    var cents: [Int] = []
    // shown: begin
    for try await event in client.events(of: Prices()) {
      let price = try event.value(as: Price.self)
      cents.append(price.cents)
    }
    // shown: end

    let requests = stage.requests()
    for request in requests { stage.showSent(request, fields: ["Last-Event-ID"]) }
    stage.showReceived("\(cents)")
    stage.expect("each event arrived once", cents == [100, 200, 300, 400])
    let lastEventIDs = requests.compactMap { $0.headers["Last-Event-ID"] }
    stage.expect("each later request named the last event that the client had received", lastEventIDs == ["2", "4"])
  }
}
