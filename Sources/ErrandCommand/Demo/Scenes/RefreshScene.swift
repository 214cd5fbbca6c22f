import Errand
import ErrandTesting
import Synchronization

struct RefreshScene: DemoScene {
  let title = "An expired token: a hundred calls get 401, and the token is refreshed once"
  let source = SceneSource()

  // shown: begin
  final class Session: RefreshingProvider {
    private let token = Mutex("old")
    let account: String? = "ada"
    // shown: end
    private let auth: APIClient

    init(auth: APIClient) { self.auth = auth }

    // shown: begin
    func credential(for account: String?) async throws -> Credential? {
      .bearer(token.withLock { $0 })
    }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      let fresh = try await auth.send(RenewToken())
      token.withLock { $0 = fresh }
      return .bearer(fresh)
    }
  }
  // shown: end

  struct RenewToken: APIRequest {
    typealias Response = String
    var path: Path { "/token" }
    var method: HTTPMethod { .post }
  }

  struct GetPage: APIRequest {
    typealias Response = String
    let number: Int
    var path: Path { "/pages/\(number)" }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    if request.path == "/token" { return .ok("new") }
    return request.headers["Authorization"] == "Bearer new" ? .ok("page") : .status(401)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let auth = APIClient(baseURL: stage.server(.api).url)
    // shown: begin
    client.configure { $0.credentials = Session(auth: auth) }
    let outcomes = await client.outcomes(of: (1...100).map { GetPage(number: $0) })
    // shown: end

    let requests = stage.requests()
    let renewals = requests.filter { $0.path == "/token" }
    stage.showSent(requests.first, fields: ["Authorization"])
    stage.showSent(renewals.first)
    stage.showSent(requests.last, fields: ["Authorization"])
    stage.showReceived("\(outcomes.count) responses to \(requests.count) requests")
    stage.expect("all hundred calls have their response", outcomes.allSatisfy { (try? $0.get()) == "page" })
    stage.expect("the token was refreshed once", renewals.count == 1)
    stage.expect("no call was sent more than twice", requests.count <= 201)
  }
}
