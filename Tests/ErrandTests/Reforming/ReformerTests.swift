@testable import ErrandCore
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

/// One response for several screens, over real sockets.
struct ReformerTests {
  private struct GetUser: APIRequest {
    var path: Path = "/user"
    var cache = CachePolicy.none
    struct Response: Decodable, Sendable, Equatable {
      let name: String
      let unread: Int
    }
  }

  private struct Title: Reformer {
    func reform(_ user: GetUser.Response) -> String { user.name.uppercased() }
  }

  private struct Badge: Reformer {
    struct None: Error {}
    func reform(_ user: GetUser.Response) throws -> Int {
      guard user.unread > 0 else { throw None() }
      return user.unread
    }
  }

  private static let user = #"{"name": "ada", "unread": 3}"#

  private func server(_ text: String = user) throws -> LoopbackServer { try LoopbackServer { _ in .json(text) } }

  @Test func `reformer converts the response`() async throws {
    let server = try server()
    let client = APIClient(baseURL: server.url)
    #expect(try await client.send(GetUser(), as: Title()) == "ADA")
    #expect(await client.outcome(of: GetUser(), as: Badge()).value == 3)
    #expect(server.requests.count == 2)
  }

  @Test func `one outcome serves several screens`() async throws {
    let server = try server()
    let outcome = await APIClient(baseURL: server.url).outcome(of: GetUser())
    #expect(outcome.reformed(by: Title()).value == "ADA" && outcome.reformed(by: Badge()).value == 3)
    #expect(outcome.reformed(by: Title()).response?.status == 200)
    let response = try await APIClient(baseURL: server.url).response(GetUser())
    #expect(try response.reformed(by: Title()).value == "ADA")
    #expect(server.requests.count == 2)
  }

  @Test func `reformers can be combined`() throws {
    let lengths = Title().then(Reform { $0.count }).each
    let users = [GetUser.Response(name: "ada", unread: 0), GetUser.Response(name: "grace", unread: 1)]
    #expect(try lengths.reform(users) == [3, 5])
  }

  @Test func `failed reformer gives a typed error`() async throws {
    let server = try server(#"{"name": "ada", "unread": 0}"#)
    let client = APIClient(baseURL: server.url)
    let error = await #expect(throws: APIError.self) { try await client.send(GetUser(), as: Badge()) }
    #expect(error?.stage == .decode && error?.code == .reform && error?.cause is Badge.None)
    #expect(error?.status == 200 && error?.attempts == 1 && error?.message.contains("Badge") == true)
    let own = Reform<GetUser.Response, Int> { _ in throw APIError(.validate, .business, "Not today.") }
    #expect(await client.outcome(of: GetUser(), as: own).error?.code == .business)
    #expect(server.requests.count == 2)
  }

  @Test func `failed call skips the reformer`() async throws {
    let server = try LoopbackServer { _ in .status(404) }
    let outcome = await APIClient(baseURL: server.url).outcome(of: GetUser(), as: Title())
    #expect(outcome.error?.status == 404 && outcome.error?.code == .status && server.requests.count == 1)
  }

  @Test func `cached response is reformed too`() async throws {
    let server = try server()
    let client = APIClient(baseURL: server.url)
    let kept = GetUser(cache: .lifetime(.seconds(60)))
    #expect(try await client.send(kept, as: Title()) == "ADA")
    let outcome = await client.outcome(of: kept, as: Badge())
    #expect(outcome.value == 3 && outcome.origin == .cacheFresh && server.requests.count == 1)
  }

  @Test func `members of a chain are reformed`() async throws {
    let server = try server()
    let title = try await APIClient(baseURL: server.url).chain { chain in
      try await chain.send(GetUser(), as: Title())
    }
    #expect(title == "ADA" && server.requests.count == 1)
  }

  @Test @MainActor func `closure receives reformed value on main actor`() async throws {
    let server = try server()
    let client = APIClient(baseURL: server.url)
    let isMain = Recorded<Bool>()
    let watched = Title().then(
      Reform<String, String> { text in
        isMain.append(Thread.isMainThread)
        return text
      })
    let title = await withCheckedContinuation { continuation in
      client.start(GetUser(), as: watched) { continuation.resume(returning: $0) }
    }
    #expect(title == "ADA" && isMain.all == [false], "the reformer ran off the main thread")
    let badge = await withCheckedContinuation { continuation in
      client.start(outcomeOf: GetUser(), as: Badge(), on: .inPlace) { continuation.resume(returning: $0.value) }
    }
    #expect(badge == 3 && server.requests.count == 2)
  }

  @Test @MainActor func `cancelled call is not reformed`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .json(Self.user).held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let outcome = await withCheckedContinuation { continuation in
      let call = client.start(outcomeOf: GetUser(), as: Title()) { continuation.resume(returning: $0) }
      call.cancel()
    }
    #expect(outcome.error?.isCancelled == true)
    gate.open()
    withExtendedLifetime(server) {}
  }

  @Test func `large response is reformed`() async throws {
    let rows = Array(repeating: #"{"name": "ada", "unread": 3}"#, count: 2_000)
    let server = try server("[" + rows.joined(separator: ",") + "]")
    struct GetAll: APIRequest {
      var path: Path { "/users" }
      typealias Response = [GetUser.Response]
    }
    let titles = try await APIClient(baseURL: server.url).send(GetAll(), as: Title().each)
    #expect(titles.count == 2_000 && server.requests.count == 1)
  }
}
