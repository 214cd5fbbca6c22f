import Errand

/// Advances the clock by a number of milliseconds before its response.
struct Timed: APIRequest {
  typealias Response = Int
  let milliseconds: Int
  init(_ milliseconds: Int) { self.milliseconds = milliseconds }
  var path: Path { "/timed/\(milliseconds)" }
}
