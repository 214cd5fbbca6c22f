import Errand

/// Requests a number and caches it for a minute.
struct Kept: APIRequest {
  typealias Response = Int
  let number: Int
  init(_ number: Int) { self.number = number }
  var path: Path { "/number/\(number)" }
  var cache: CachePolicy { .lifetime(.seconds(60)) }
}
