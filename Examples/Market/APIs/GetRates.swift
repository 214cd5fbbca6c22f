import Errand

/// The current exchange rates; never cached.
struct GetRates: APIRequest {
  var path: Path { "/rates" }
  var cache: CachePolicy { .none }
  typealias Response = [String: Int]
}
