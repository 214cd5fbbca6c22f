import Errand

/// Is answered with 500.
struct Broken: APIRequest {
  var path: Path { "/broken/x" }
}
