import Errand
import ErrandTesting

struct ChainScene: DemoScene {
  let title = "A chain: register, user info, then two concurrent steps, then the last step"
  let source = SceneSource()

  struct Register: APIRequest {
    let name: String
    var path: Path { "/register" }
    var method: HTTPMethod { .post }
    var arguments: Arguments { ["name": name] }
    struct Response: Decodable, Sendable { let id: Int }
  }

  struct UserInfo: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)/info" }
    struct Response: Decodable, Sendable { let avatar: String }
  }

  struct Avatar: APIRequest {
    let name: String
    var path: Path { "/avatars/\(name)" }
  }

  struct Friends: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)/friends" }
    typealias Response = [String]
  }

  struct Welcome: APIRequest {
    let friends: Int
    let bytes: Int
    var path: Path { "/welcome" }
    var arguments: Arguments { ["friends": friends, "bytes": bytes] }
    typealias Response = String
  }

  private let gate = Gate()

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    switch request.path {
    case "/register": .json(#"{"id": 7}"#)
    case "/users/7/info": .json(#"{"avatar": "fern"}"#)
    case "/avatars/fern": .ok("12 bytes png").held(at: gate)
    case "/users/7/friends": .json(#"["grace", "alan"]"#).held(at: gate)
    default: .ok("welcome")
    }
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    // shown: begin
    let signUp = Chain("sign up") { chain in
      let account = try await chain.send(Register(name: "ada"))
      let info = try await chain.send(UserInfo(id: account.id))
      async let avatar = chain.send(Avatar(name: info.avatar))
      async let friends = chain.send(Friends(id: account.id))
      return try await chain.send(Welcome(friends: friends.count, bytes: avatar.count))
    }
    // shown: end
    let sideBySide = Task { [gate] in
      try await gate.reached(times: 2)
      gate.open()
      return gate.arrivals
    }
    // shown: begin
    let outcome = await client.outcome(of: signUp)
    // shown: end

    for request in stage.requests() { stage.showSent(request) }
    for line in "\(outcome.report)".split(separator: "\n") { stage.showReceived(String(line)) }
    stage.expect("the chain has the value of its last step", outcome.value == "welcome")
    stage.expect("avatar and friends were requested concurrently", try await sideBySide.value == 2)
    stage.expect(
      "the last step used the results of both concurrent steps",
      stage.requests().last?.target == "/welcome?friends=2&bytes=12")
    stage.expect("the report lists all five calls", outcome.report.calls == 5)
  }
}
