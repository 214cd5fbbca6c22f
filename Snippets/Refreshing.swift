// Tokens that expire: one refresh for all waiting calls.
import Errand
import ErrandTesting
import Foundation
import Synchronization

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable { let nick: String }
}

struct RenewToken: APIRequest {
  var path: Path { "/token" }
  var method: HTTPMethod { .post }
  struct Response: Decodable, Sendable { let token: String }
}

let server = try LoopbackServer { request in
  if request.path == "/token" { return .json(#"{"token":"new","seconds":3600}"#) }
  return request.headers["Authorization"] == "Bearer new" ? .json(#"{"nick":"Ada"}"#) : .status(401)
}
let authURL = server.url

// snippet.provider
final class Session: RefreshingProvider {
  private let token = Mutex("old")
  private let auth = APIClient(baseURL: authURL)

  let account: String? = "ada"
  func credential(for account: String?) async throws -> Credential? {
    .bearer(token.withLock { $0 })
  }
  func refresh(_ old: Credential, for account: String?) async throws -> Credential {
    let pair = try await auth.send(RenewToken(), options: .deadline(.seconds(20)))
    token.withLock { $0 = pair.token }  // credential(for:) returns it from now on
    return .bearer(pair.token)
  }
}
// snippet.end

var configuration = ClientConfiguration(baseURL: server.url)
// snippet.client
configuration.credentials = Session()
let client = APIClient(configuration)
print(try await client.send(GetUser(id: 7)).nick)
// snippet.end

final class BusinessSession: RefreshingProvider {
  let account: String? = "ada"

  // snippet.rejection
  func isRejection(_ response: HTTPResponse) -> Bool {
    response.status == 401 || (try? JSONValue(parsing: response.body))?["code"] == 10401
  }
  // snippet.end

  func credential(for account: String?) async throws -> Credential? { .bearer("new") }
  func refresh(_ old: Credential, for account: String?) async throws -> Credential { .bearer("newer") }
}
client.configure { $0.credentials = BusinessSession() }
print(try await client.send(GetUser(id: 7)).nick)

// snippet.store
let accounts = CredentialStore { old, account in
  let pair = try await APIClient(baseURL: authURL).send(RenewToken())
  return AccountCredential(.bearer(pair.token))
} isRejection: { response in
  (try? JSONValue(parsing: response.body))?["code"] == 10401
}
// snippet.end
print(accounts.accounts.count)

final class Dated: RefreshingProvider {
  let account: String? = nil
  private let ends = ContinuousClock.now + .seconds(3_600)

  // snippet.expiring
  func isExpiring(_ credential: Credential) -> Bool { ends < .now + .seconds(30) }
  // snippet.end

  func credential(for account: String?) async throws -> Credential? { .bearer("new") }
  func refresh(_ old: Credential, for account: String?) async throws -> Credential { .bearer("newer") }
}
client.configure { $0.credentials = Dated() }
print(try await client.send(GetUser(id: 7)).nick)

let (auth, secret) = (APIClient(baseURL: authURL), "secret")

// snippet.service
struct GetServiceToken: APIRequest {
  let secret: String
  var path: Path { "/token" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["grant_type": "client_credentials"] }
  var credential: RequestCredential { .basic(user: "stock", password: secret) }
  struct Response: Decodable, Sendable {
    let token: String
    let seconds: Double
  }
}

func newToken() async throws -> AccountCredential {
  let answer = try await auth.send(GetServiceToken(secret: secret), options: .deadline(.seconds(20)))
  return AccountCredential(.bearer(answer.token), expires: .now + answer.seconds)
}

let service = CredentialStore { _, _ in try await newToken() }
try await service.login("stock", with: newToken())
client.configure { $0.credentials = service }
// snippet.end
print(try await client.send(GetUser(id: 7)).nick)
