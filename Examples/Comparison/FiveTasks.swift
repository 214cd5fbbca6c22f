import Foundation

/// Five everyday tasks, which each library of the comparison carries out against the same server.
protocol FiveTasks: Sendable {
  /// - Parameter base: the base URL of the server.
  init(base: String)

  /// 1. Reads a user as a typed value, with an argument in the query. Another status than 2xx is an error.
  func user(id: Int) async throws -> User

  /// 2. Sends a user as JSON. If the server rejects it, throws ``Rejected`` with the message in the response body.
  func register(_ user: User) async throws -> User

  /// 3. Uploads a file and reports the number of bytes that were sent, in rising order, at the end all of them.
  func upload(_ file: URL, onProgress: @escaping @Sendable (Int64) -> Void) async throws

  /// 4. Reads a user with a token. If the token has expired, all waiting calls share one renewal.
  func profile(id: Int) async throws -> User

  /// 5. Reads a list of users, which is served from a cache for five minutes although the server does not say so.
  func list() async throws -> [User]
}

struct User: Codable, Equatable, Sendable {
  var nick: String
}

/// The body of a response with status 422.
struct Problem: Codable, Sendable { let message: String }

struct Rejected: Error {
  let message: String?
}

/// The response to a renewal of a token.
struct Token: Codable, Sendable { let token: String }
