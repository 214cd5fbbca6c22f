import Errand
import Foundation
import Synchronization

/// The five tasks with Errand.
struct ErrandTasks: FiveTasks {
  private let client: APIClient

  init(base: String) {
    var configuration = ClientConfiguration(baseURL: base)
    configuration.credentials = Session(base: base)
    client = APIClient(configuration)
  }

  // MARK: 1
  struct GetUser: APIRequest {
    typealias Response = User
    let id: Int
    var path: Path { "/users/\(id)" }
    var arguments: Arguments { ["verbose": true] }
  }

  func user(id: Int) async throws -> User { try await client.send(GetUser(id: id)) }

  // MARK: 2
  struct Register: APIRequest {
    typealias Response = User
    typealias ErrorBody = Problem
    let user: User
    let path: Path = "/users"
    let method: HTTPMethod = .post
    var body: RequestBody? { .json(user) }
  }

  func register(_ user: User) async throws -> User {
    do {
      return try await client.send(Register(user: user))
    } catch  where error.status == 422 {
      throw Rejected(message: error.body(as: Problem.self)?.message)
    }
  }

  // MARK: 3
  struct SendPhoto: APIRequest {
    typealias Response = Nothing
    let file: URL
    let path: Path = "/photos/7"
    let method: HTTPMethod = .put
    var body: RequestBody? { .file(file) }
  }

  func upload(_ file: URL, onProgress: @escaping @Sendable (Int64) -> Void) async throws {
    let upload = ProgressStream(.upload)
    async let sent = client.send(SendPhoto(file: file), options: CallOptions(accessories: [upload]))
    for await report in upload.reports { onProgress(report.bytes) }
    _ = try await sent
  }

  // MARK: 4
  struct RenewToken: APIRequest {
    typealias Response = Token
    let path: Path = "/token"
    let method: HTTPMethod = .post
  }

  final class Session: RefreshingProvider {
    private let token = Mutex("old")
    private let client: APIClient
    let account: String? = "ada"

    init(base: String) { client = APIClient(baseURL: base) }

    func credential(for account: String?) async throws -> Credential? { .bearer(token.withLock { $0 }) }

    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      let new = try await client.send(RenewToken()).token
      token.withLock { $0 = new }
      return .bearer(new)
    }
  }

  struct GetProfile: APIRequest {
    typealias Response = User
    let id: Int
    var path: Path { "/profiles/\(id)" }
  }

  func profile(id: Int) async throws -> User { try await client.send(GetProfile(id: id)) }

  // MARK: 5
  struct ListUsers: APIRequest {
    typealias Response = [User]
    let path: Path = "/users"
    let cache: CachePolicy = .lifetime(.seconds(300))
  }

  func list() async throws -> [User] { try await client.send(ListUsers()) }
}
