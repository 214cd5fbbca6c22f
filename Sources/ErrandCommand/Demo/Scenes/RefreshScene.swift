import Errand
import ErrandTesting
import Synchronization

/// A token that runs out under many calls.
struct RefreshScene: DemoScene {
  let title = "A token that has run out: a hundred calls meet 401, and it is refreshed once"
  let declared = #"""
    final class Session: RefreshingProvider {
      private let token = Mutex("old")
      let account: String? = "ada"
      func credential(for account: String?) async throws -> Credential? {
        .bearer(token.withLock { $0 })
      }
      func refresh(_ old: Credential, for account: String?) async throws -> Credential {
        let fresh = try await auth.send(RenewToken())
        token.withLock { $0 = fresh }
        return .bearer(fresh)
      }
    }
    client.configure { $0.credentials = Session(auth: auth) }
    let outcomes = await client.outcomes(of: (1...100).map { GetPage(number: $0) })
    """#

  final class Session: RefreshingProvider {
    private let token = Mutex("old")
    let account: String? = "ada"
    private let auth: APIClient

    init(auth: APIClient) { self.auth = auth }

    func credential(for account: String?) async throws -> Credential? {
      .bearer(token.withLock { $0 })
    }
    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      let fresh = try await auth.send(RenewToken())
      token.withLock { $0 = fresh }
      return .bearer(fresh)
    }
  }

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
    client.configure { $0.credentials = Session(auth: auth) }
    let outcomes = await client.outcomes(of: (1...100).map { GetPage(number: $0) })

    let requests = stage.requests()
    let renewals = requests.filter { $0.path == "/token" }
    stage.showSent(requests.first, fields: ["Authorization"])
    stage.showSent(renewals.first)
    stage.showSent(requests.last, fields: ["Authorization"])
    stage.showGot("\(outcomes.count) answers to \(requests.count) requests")
    stage.claim("all hundred calls have their answer", outcomes.allSatisfy { (try? $0.get()) == "page" })
    stage.claim("the token was refreshed once", renewals.count == 1)
    stage.claim("no call was sent more than twice", requests.count <= 201)
  }
}
