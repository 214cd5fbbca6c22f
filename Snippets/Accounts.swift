// Login, switch and logout, with credentials that are saved in a file.
import Errand
import ErrandChecksum
import ErrandTesting
import Foundation

struct RenewToken: APIRequest {
  let refreshToken: String
  var path: Path { "/token" }
  var method: HTTPMethod { .post }
  var body: RequestBody? { .text(refreshToken) }
  var credential: RequestCredential { .none }
  struct Response: Decodable, Sendable {
    let token: String
    let refreshToken: String
  }
}

struct TellLogout: APIRequest {
  var path: Path { "/logout" }
  var method: HTTPMethod { .post }
  typealias Response = String
}

let server = try LoopbackServer { request in
  request.path == "/token" ? .json(#"{"token":"new","refreshToken":"next"}"#) : .ok("bye")
}
let auth = APIClient(baseURL: server.url)
let tokens = URL.temporaryDirectory.appending(path: "errand-accounts-\(UUID()).json")

// snippet.store
let accounts = try await CredentialStore(keeping: FileCredentialKeeper(file: tokens)) { old, account in
  let pair = try await auth.send(RenewToken(refreshToken: old.refreshToken ?? ""))
  return AccountCredential(.bearer(pair.token), refreshToken: pair.refreshToken)
}
var configuration = ClientConfiguration(baseURL: server.url)
configuration.credentials = accounts
let client = APIClient(configuration)
// snippet.end

// snippet.memory
let visitors = CredentialStore { old, account in
  let pair = try await auth.send(RenewToken(refreshToken: old.refreshToken ?? ""))
  return AccountCredential(.bearer(pair.token), refreshToken: pair.refreshToken)
}
// snippet.end
print(visitors.account ?? "nobody")

let changes = accounts.changes
// snippet.login
try await accounts.login("ada", with: AccountCredential(.bearer("a"), refreshToken: "ra"))
try await accounts.login("bob", with: AccountCredential(.bearer("b"), refreshToken: "rb"))
try await accounts.use("ada")
print(accounts.account ?? "nobody", accounts.accounts)
// snippet.end

// snippet.logout
try await accounts.logout {
  _ = try await client.send(TellLogout())
}
// snippet.end
try await accounts.logout("bob")

// snippet.changes
for await change in changes.prefix(3) { print(change) }
// snippet.end
try? FileManager.default.removeItem(at: tokens)

let password = "secret of the camera"
// snippet.digest
let camera = APIClient(baseURL: "http://camera.local")
camera.configure {
  $0.interceptors.exchanges.append(DigestAuthentication(user: "ada", password: password))
}
// snippet.end
