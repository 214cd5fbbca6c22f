import Errand
import ErrandTesting
import Foundation
import Testing

/// Credentials that a server rejects by a business code in a response with status 200.
struct RejectionTests {
  private final class Tokens: RefreshingProvider {
    let refreshed = Recorded<Credential>()
    let account: String? = "ada"

    func credential(for account: String?) async throws -> Credential? { .bearer("\(refreshed.count)") }

    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      refreshed.append(old)
      return .bearer("\(refreshed.count)")
    }

    func isRejection(_ response: HTTPResponse) -> Bool { response.status == 401 || RejectionTests.isExpired(response) }
  }

  struct User: Decodable, Sendable, Equatable { let nick: String }

  private struct Cached: APIRequest {
    typealias Response = JSONValue
    let path: Path = "/user"
    let cache: CachePolicy = .lifetime(.seconds(60))
  }

  private static func isExpired(_ response: HTTPResponse) -> Bool {
    (try? JSONValue(parsing: response.body))?["code"] == 10401
  }

  private static let expired = ScriptedAnswer.json(#"{"code":10401,"message":"token expired"}"#)
  private static let user = ScriptedAnswer.json(#"{"code":0,"data":{"nick":"Ada"}}"#)

  /// A server that accepts the tokens in the list.
  private func bench(_ credentials: any CredentialProvider, accepting tokens: [String]) -> ScriptedClient {
    ScriptedClient(
      {
        $0.credentials = credentials
        $0.validation.envelope = Envelope(value: "data", code: "code", message: "message")
      },
      answer: { request in
        tokens.contains { request.fields[.authorization] == "Bearer \($0)" } ? Self.user : Self.expired
      })
  }

  @Test func `business code refreshes the credential`() async throws {
    let tokens = Tokens()
    let bench = bench(tokens, accepting: ["1"])
    let outcome = await bench.client.outcome(of: Ask<User>(method: .post))
    #expect(outcome.value == User(nick: "Ada") && outcome.metrics.attempts == 2)
    #expect(tokens.refreshed.all == [.bearer("0")])
    #expect(bench.transport.requests.map { $0.fields[.authorization] } == ["Bearer 0", "Bearer 1"])
  }

  @Test func `second rejection is the result`() async {
    let tokens = Tokens()
    let error = await bench(tokens, accepting: []).failure(of: Ask<User>())
    #expect(error?.code == .business && error?.businessCode == "10401" && error?.serverMessage == "token expired")
    #expect(error?.attempts == 2 && tokens.refreshed.count == 1)
  }

  @Test func `other codes refresh nothing`() async {
    let tokens = Tokens()
    let bench = ScriptedClient(
      {
        $0.credentials = tokens
        $0.validation.envelope = Envelope(value: "data", code: "code")
      },
      answer: { _ in .json(#"{"code":7}"#) })
    #expect(await bench.failure(of: Ask<User>())?.businessCode == "7")
    #expect(tokens.refreshed.count == 0 && bench.transport.requests.count == 1)
  }

  @Test func `rejection is not stored`() async throws {
    let bench = ScriptedClient(
      { $0.credentials = Tokens() },
      answer: { $0.fields[.authorization] == "Bearer 2" ? Self.user : Self.expired })
    #expect(try await bench.client.send(Cached())["code"] == 10401)
    #expect(try await bench.client.send(Cached())["code"] == 0)
    #expect(try await bench.client.send(Cached())["code"] == 0)
    #expect(bench.transport.requests.count == 4, "the response to the valid credential is stored")
  }

  @Test func `store without a refresh finds rejections`() async throws {
    let accounts = CredentialStore(isRejection: { Self.isExpired($0) })
    try await accounts.login("ada", with: AccountCredential(.bearer("old")))
    let bench = ScriptedClient(
      { $0.credentials = accounts },
      answer: { $0.fields[.authorization] == "Bearer new" ? Self.user : Self.expired })
    #expect(try await bench.client.send(Cached())["code"] == 10401)
    try await accounts.login("ada", with: AccountCredential(.bearer("new")))
    #expect(try await bench.client.send(Cached())["code"] == 0, "the rejection is not stored")
  }

  @Test func `own credential is not refreshed`() async {
    let tokens = Tokens()
    let bench = bench(tokens, accepting: ["1"])
    let error = await bench.failure(of: Ask<User>(credential: .bearer("old")))
    #expect(error?.businessCode == "10401" && tokens.refreshed.count == 0 && bench.transport.requests.count == 1)
  }

  @Test(arguments: [10401, 401]) func `store of accounts finds rejections`(code: Int) async throws {
    let accounts = CredentialStore { _, _ in
      AccountCredential(.bearer("new"))
    } isRejection: {
      Self.isExpired($0)
    }
    try await accounts.login("ada", with: AccountCredential(.bearer("old")))
    let bench = ScriptedClient(
      {
        $0.credentials = accounts
        $0.validation.envelope = Envelope(value: "data", code: "code")
      },
      answer: { request in
        if request.fields[.authorization] == "Bearer new" { return Self.user }
        return code == 401 ? .status(401) : Self.expired
      })
    #expect(try await bench.client.send(Ask<User>()) == User(nick: "Ada"))
    #expect(bench.transport.requests.count == 2)
  }
}
