import Errand

/// Turns the clock by so many milliseconds while it is answered.
struct Timed: APIRequest {
  typealias Response = Int
  let milliseconds: Int
  init(_ milliseconds: Int) { self.milliseconds = milliseconds }
  var path: Path { "/timed/\(milliseconds)" }
}
