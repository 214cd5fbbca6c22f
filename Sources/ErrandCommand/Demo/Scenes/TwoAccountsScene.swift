import Errand
import ErrandTesting

/// One cache, two people.
struct TwoAccountsScene: DemoScene {
  let title = "Two accounts on one cache: neither sees nor evicts what is the other's"
  let declared = #"""
    struct Session: CredentialProvider {
      let account: String?
      func credential(for account: String?) async throws -> Credential? {
        account.map { .bearer("token of \($0)") }
      }
    }
    struct Inbox: APIRequest {
      var path: Path { "/inbox" }
      var cache: CachePolicy { .lifetime(.seconds(180)) }
      struct Response: Decodable, Sendable { let owner: String }
    }
    for name in ["ada", "bob", "ada", "bob"] {
      client.configure { $0.credentials = Session(account: name) }
      inboxes.append(try await client.response(Inbox()))
    }
    client.configure { $0.credentials = Session(account: "eve") }
    let outcome = await client.outcome(of: Inbox(), options: .cache(.cacheOnly))
    await cache.removeAll(account: "ada")
    """#

  struct Session: CredentialProvider {
    let account: String?
    func credential(for account: String?) async throws -> Credential? {
      account.map { .bearer("token of \($0)") }
    }
  }

  struct Inbox: APIRequest {
    var path: Path { "/inbox" }
    var cache: CachePolicy { .lifetime(.seconds(180)) }
    struct Response: Decodable, Sendable { let owner: String }
  }

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer {
    let owner = request.headers["Authorization"]?.split(separator: " ").last ?? "nobody"
    return .json(#"{"owner": "\#(owner)"}"#)
  }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let cache = ResponseCache(store: MemoryStore())
    client.configure { $0.cache = .own(cache) }
    var inboxes: [APIResponse<Inbox.Response>] = []
    for name in ["ada", "bob", "ada", "bob"] {
      client.configure { $0.credentials = Session(account: name) }
      inboxes.append(try await client.response(Inbox()))
    }
    client.configure { $0.credentials = Session(account: "eve") }
    let outcome = await client.outcome(of: Inbox(), options: .cache(.cacheOnly))
    await cache.removeAll(account: "ada")

    for request in stage.requests() { stage.showSent(request, fields: ["Authorization"]) }
    for inbox in inboxes { stage.showGot("inbox of \(inbox.value.owner) from \(inbox.origin.rawValue)") }
    stage.showGot(outcome.error)
    stage.claim("each got an inbox of their own", inboxes.map(\.value.owner) == ["ada", "bob", "ada", "bob"])
    stage.claim(
      "the server was asked once for each", inboxes.map(\.origin) == [.network, .network, .cacheFresh, .cacheFresh])
    stage.claim("somebody else gets nothing, and learns why", outcome.error?.cacheMiss == .otherAccount)
    stage.claim("once ada is logged out, bob's inbox alone is left", await cache.entries().count == 1)
  }
}
