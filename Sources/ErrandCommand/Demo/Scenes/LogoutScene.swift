import Errand
import ErrandTesting

/// Two accounts, one of which leaves while its calls are under way.
struct LogoutScene: DemoScene {
  let title = "A logout: one account's calls end, the other's go on, and the server is told"
  let declared = #"""
    let accounts = CredentialStore()
    client.configure { $0.credentials = accounts }
    try await accounts.login("bob", with: AccountCredential(.bearer("b")))
    let bob = Task { await client.outcome(of: GetFeed()) }
    …
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    let ada = Task { await client.outcome(of: GetFeed()) }
    …
    try await accounts.logout { _ = try await client.send(TellLogout()) }
    """#

  private let gate = Gate()

  struct GetFeed: APIRequest {
    typealias Response = String
    var path: Path { "/feed" }
  }

  struct TellLogout: APIRequest {
    typealias Response = String
    var path: Path { "/logout" }
    var method: HTTPMethod { .post }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    request.path == "/feed" ? .ok("feed").held(at: gate) : .ok("bye")
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let accounts = CredentialStore()
    client.configure { $0.credentials = accounts }
    try await accounts.login("bob", with: AccountCredential(.bearer("b")))
    let bob = Task { await client.outcome(of: GetFeed()) }
    try await gate.reached(times: 1)
    try await accounts.login("ada", with: AccountCredential(.bearer("a")))
    let ada = Task { await client.outcome(of: GetFeed()) }
    try await gate.reached(times: 2)
    try await accounts.logout { _ = try await client.send(TellLogout()) }
    let left = await ada.value.error
    gate.open()
    let stays = await bob.value

    for request in stage.requests() { stage.showSent(request, fields: ["Authorization"]) }
    stage.showGot("ada: \(left.map { "an error of code \($0.code.rawValue)" } ?? "an answer")")
    stage.showGot("bob: \(stays.value ?? "an error")")
    stage.claim("ada's call ended with the logout", left?.code == .loggedOut)
    stage.claim("bob's went on", stays.value == "feed")
    stage.claim("the server was told with ada's token", stage.requests().last?.headers["Authorization"] == "Bearer a")
    stage.claim("nobody is the present account", accounts.account == nil)
  }
}
