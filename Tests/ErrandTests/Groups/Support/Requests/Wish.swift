import Errand

/// Asks for a text that is wanted or not: so a list of one kind has both.
struct Wish: APIRequest {
  typealias Response = String
  /// `ok`, `held` or `broken`.
  let wish: String
  init(_ wish: String) { self.wish = wish }
  var path: Path { "/\(wish)/\(wish)" }
}
