import Errand

/// Who is logged in.
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

  /// From here on every request of every area is sent as this user, from the branch that the user works in.
  func logIn(_ user: String, password: String) async throws {
    let session = try await client.send(LogIn(message: LoginMessage(user: user, password: password)))
    try await accounts.login(user, with: AccountCredential(.bearer(session.token)))
    client.configure { $0.headers.set("X-Branch", .text(session.branch)) }
  }

  /// Ends what is under way, tells the server, and sends nothing of the user any more.
  func logOut() async throws {
    defer { client.configure { $0.headers.set("X-Branch", nil) } }
    try await accounts.logout { _ = try await client.send(LogOut()) }
  }
}
