import Errand
import ErrandTesting

struct AsyncScene: DemoScene {
  let title = "A type for each kind of request, and async/await: three concurrent calls"
  let source = SceneSource()

  // shown: begin
  struct GetUser: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)" }
    struct Response: Decodable, Sendable { let nick: String; let level: Int }
  }
  // shown: end

  private let gate = Gate()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    let id = request.path.split(separator: "/").last ?? "?"
    return .json(#"{"nick": "user\#(id)", "level": \#(id)}"#).held(at: gate)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    // shown: begin
    async let first = client.send(GetUser(id: 7))
    async let second = client.send(GetUser(id: 8))
    async let third = client.send(GetUser(id: 9))
    try await gate.reached(times: 3)
    gate.open()
    let users = try await [first, second, third]
    // shown: end

    for request in stage.requests().sorted(by: { $0.target < $1.target }) {
      stage.showSent(request, fields: request.target == "/users/7" ? ["Host", "Accept", "User-Agent"] : [])
    }
    for user in users { stage.showReceived(value: user) }
    stage.expect("all three requests reached the server before its first response", gate.arrivals == 3)
    stage.expect("each call got its own response", users.map(\.level) == [7, 8, 9])
  }
}
