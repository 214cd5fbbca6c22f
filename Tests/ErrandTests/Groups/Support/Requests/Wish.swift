import Errand

/// Requests a text that succeeds, is held or fails, so that one type covers all three.
struct Wish: APIRequest {
  typealias Response = String
  /// One of `ok`, `held` and `broken`.
  let wish: String
  init(_ wish: String) { self.wish = wish }
  var path: Path { "/\(wish)/\(wish)" }
}
