import Errand

/// The API's error body.
struct Problem: Decodable, Sendable {
  let message: String
}

/// Creates an account.
struct Register: APIRequest {
  typealias ErrorBody = Problem
  let name: String
  let password: String
  var path: Path { "/accounts" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["name": name, "password": password] }

  struct Response: Decodable, Sendable {
    let id: Int
  }
}

/// The data of a user, cached for three minutes and checked by a shape.
struct GetUserInfo: APIRequest {
  let id: Int
  var path: Path { "/accounts/\(id)" }
  var cache: CachePolicy { .lifetime(.seconds(180), version: 1) }
  var validation: ResponseValidation {
    ResponseValidation(shape: ["name": .string, "level": .integer, "avatar": .string, "albums": [.integer]])
  }

  struct Response: Decodable, Sendable {
    let name: String
    let level: Int
    let avatar: String
    let albums: [Int]
  }
}

/// The names of a user's friends.
struct GetFriends: APIRequest {
  let id: Int
  var path: Path { "/accounts/\(id)/friends" }
  typealias Response = [String]
}

/// The sentence on the first page.
struct GetGreeting: APIRequest {
  let name: String
  let friends: Int
  let avatarBytes: Int
  var path: Path { "/greeting" }
  var arguments: Arguments { ["name": name, "friends": friends, "bytes": avatarBytes] }
  typealias Response = String
}
