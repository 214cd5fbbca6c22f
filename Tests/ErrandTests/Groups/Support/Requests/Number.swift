import Errand

/// Requests a number.
struct Number: APIRequest {
  typealias Response = Int
  let number: Int
  init(_ number: Int) { self.number = number }
  var path: Path { "/number/\(number)" }
}
