import Errand

/// A request that gets status 500.
struct Broken: APIRequest {
  var path: Path { "/broken/x" }
}
