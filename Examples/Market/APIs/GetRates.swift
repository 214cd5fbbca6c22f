import Errand

/// What the currencies are worth just now; never kept.
struct GetRates: APIRequest {
  var path: Path { "/rates" }
  var cache: CachePolicy { .none }
  typealias Response = [String: Int]
}
