import Alamofire
import Foundation

/// The five tasks with Alamofire 5.
struct AlamofireTasks: FiveTasks {
  private let base: String
  private let renewing: Session

  init(base: String) {
    self.base = base
    let interceptor = AuthenticationInterceptor(
      authenticator: TokenAuthenticator(base: base), credential: TokenCredential(token: "old"))
    renewing = Session(interceptor: interceptor)
  }

  // MARK: 1
  func user(id: Int) async throws -> User {
    try await AF.request("\(base)/users/\(id)", parameters: ["verbose": "true"])
      .validate()
      .serializingDecodable(User.self)
      .value
  }

  // MARK: 2
  func register(_ user: User) async throws -> User {
    let response = await AF.request(
      "\(base)/users", method: .post, parameters: user, encoder: JSONParameterEncoder.default
    )
    .validate()
    .serializingDecodable(User.self)
    .response
    if response.response?.statusCode == 422, let data = response.data {
      throw Rejected(message: try? JSONDecoder().decode(Problem.self, from: data).message)
    }
    return try response.result.get()
  }

  // MARK: 3
  func upload(_ file: URL, onProgress: @escaping @Sendable (Int64) -> Void) async throws {
    _ = try await AF.upload(file, to: "\(base)/photos/7", method: .put)
      .uploadProgress { onProgress($0.completedUnitCount) }
      .validate()
      .serializingData(emptyResponseCodes: [200, 204])
      .value
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
    try await renewing.request("\(base)/profiles/\(id)")
      .validate()
      .serializingDecodable(User.self)
      .value
  }

  // MARK: 5
  func list() async throws -> [User] {
    try await AF.request("\(base)/users")
      .cacheResponse(using: Self.fiveMinutes)
      .validate()
      .serializingDecodable([User].self)
      .value
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
