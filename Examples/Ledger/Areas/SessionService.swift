import Errand

/// Login and logout.
struct SessionService: LedgerService {
  let client: APIClient
  let accounts: CredentialStore

  struct LogIn: MessageRequest {
    let message: LoginMessage
    var path: Path { "/login" }
    var credential: RequestCredential { .none }
    typealias Response = SessionMessage
  }

  struct LogOut: LedgerRequest {
    var path: Path { "/logout" }
    var method: HTTPMethod { .post }
    typealias Response = Nothing
  }

  /// Logs in. Later requests of every area carry this user's token and the user's branch.
  func logIn(_ user: String, password: String) async throws {
    let session = try await client.send(LogIn(message: LoginMessage(user: user, password: password)))
    try await accounts.login(user, with: AccountCredential(.bearer(session.token)))
    client.configure { $0.headers.set("X-Branch", .text(session.branch)) }
  }

  /// Cancels pending calls, tells the server, and removes the user's token and branch from later requests.
  func logOut() async throws {
    defer { client.configure { $0.headers.set("X-Branch", nil) } }
    try await accounts.logout { _ = try await client.send(LogOut()) }
  }
}
