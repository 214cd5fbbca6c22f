import Alamofire
import Foundation
import Moya

/// The five tasks with Moya 15, which sends over Alamofire.
struct MoyaTasks: FiveTasks {
  private let base: String
  private let provider: MoyaProvider<API>
  private let renewing: MoyaProvider<API>
  private let caching: MoyaProvider<API>

  init(base: String) {
    self.base = base
    provider = MoyaProvider()
    let interceptor = AuthenticationInterceptor(
      authenticator: TokenAuthenticator(base: base), credential: TokenCredential(token: "old"))
    caching = MoyaProvider(session: Session(startRequestsImmediately: false, cachedResponseHandler: Self.fiveMinutes))
    renewing = MoyaProvider(session: Session(startRequestsImmediately: false, interceptor: interceptor))
  }

  /// The calls of the API, with the base URL of each.
  struct API: TargetType {
    enum Call {
      case user(id: Int)
      case register(User)
      case upload(URL)
      case profile(id: Int)
      case list
    }

    let baseURL: URL
    let call: Call
    var headers: [String: String]? { nil }
    var validationType: ValidationType { .successCodes }

    var path: String {
      switch call {
      case .user(let id): "/users/\(id)"
      case .register, .list: "/users"
      case .upload: "/photos/7"
      case .profile(let id): "/profiles/\(id)"
      }
    }

    var method: Moya.Method {
      switch call {
      case .register: .post
      case .upload: .put
      case .user, .profile, .list: .get
      }
    }

    var task: Moya.Task {
      switch call {
      case .user: .requestParameters(parameters: ["verbose": "true"], encoding: URLEncoding.queryString)
      case .register(let user): .requestJSONEncodable(user)
      case .upload(let file): .uploadFile(file)
      case .profile, .list: .requestPlain
      }
    }
  }

  private func send(
    _ call: API.Call, with provider: MoyaProvider<API>, onProgress: @escaping @Sendable (Int64) -> Void = { _ in }
  ) async throws -> Moya.Response {
    guard let url = URL(string: base) else { throw URLError(.badURL) }
    return try await withCheckedThrowingContinuation { continuation in
      provider.request(API(baseURL: url, call: call)) { progress in
        onProgress(progress.progressObject?.completedUnitCount ?? 0)
      } completion: { result in
        continuation.resume(with: result)
      }
    }
  }

  // MARK: 1
  func user(id: Int) async throws -> User {
    try await send(.user(id: id), with: provider).map(User.self)
  }

  // MARK: 2
  func register(_ user: User) async throws -> User {
    do {
      return try await send(.register(user), with: provider).map(User.self)
    } catch let error as MoyaError {
      guard let response = error.response, response.statusCode == 422 else { throw error }
      throw Rejected(message: try? response.map(Problem.self).message)
    }
  }

  // MARK: 3
  func upload(_ file: URL, onProgress: @escaping @Sendable (Int64) -> Void) async throws {
    _ = try await send(.upload(file), with: provider, onProgress: onProgress)
  }

  // MARK: 4
  struct TokenCredential: AuthenticationCredential {
    let token: String
    var requiresRefresh: Bool { false }
  }

  final class TokenAuthenticator: Authenticator {
    private let base: String

    init(base: String) { self.base = base }

    func apply(_ credential: TokenCredential, to urlRequest: inout URLRequest) {
      urlRequest.headers.add(.authorization(bearerToken: credential.token))
    }

    func refresh(
      _ credential: TokenCredential, for session: Session,
      completion: @escaping @Sendable (Result<TokenCredential, any Error>) -> Void
    ) {
      AF.request("\(base)/token", method: .post).validate().responseDecodable(of: Token.self) { response in
        completion(response.result.map { TokenCredential(token: $0.token) }.mapError { $0 })
      }
    }

    func didRequest(
      _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
    ) -> Bool {
      response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: TokenCredential) -> Bool {
      urlRequest.headers["Authorization"] == HTTPHeader.authorization(bearerToken: credential.token).value
    }
  }

  func profile(id: Int) async throws -> User {
    try await send(.profile(id: id), with: renewing).map(User.self)
  }

  // MARK: 5
  func list() async throws -> [User] {
    try await send(.list, with: caching).map([User].self)
  }

  private static let fiveMinutes = ResponseCacher(
    behavior: .modify { _, cached in
      guard let response = cached.response as? HTTPURLResponse, let url = response.url else { return cached }
      var headers = response.headers
      headers.update(name: "Cache-Control", value: "max-age=300")
      let changed = HTTPURLResponse(
        url: url, statusCode: response.statusCode, httpVersion: nil, headerFields: headers.dictionary)
      return changed.map { CachedURLResponse(response: $0, data: cached.data) }
    })
}
