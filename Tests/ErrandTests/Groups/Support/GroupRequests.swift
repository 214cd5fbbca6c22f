import Errand
import ErrandTesting

/// Asks for a text.
struct Words: APIRequest {
  typealias Response = String
  let text: String
  let isHeld: Bool
  init(_ text: String, latch isHeld: Bool = false) {
    self.text = text
    self.isHeld = isHeld
  }
  var path: Path { isHeld ? "/held/\(text)" : "/words/\(text)" }
}

/// Asks for bytes.
struct Bytes: APIRequest {
  let text: String
  init(_ text: String) { self.text = text }
  var path: Path { "/bytes/\(text)" }
}

/// Asks for a number.
struct Number: APIRequest {
  typealias Response = Int
  let number: Int
  init(_ number: Int) { self.number = number }
  var path: Path { "/number/\(number)" }
}

/// Asks for a number that is kept for a minute.
struct Kept: APIRequest {
  typealias Response = Int
  let number: Int
  init(_ number: Int) { self.number = number }
  var path: Path { "/number/\(number)" }
  var cache: CachePolicy { .lifetime(.seconds(60)) }
}

/// Turns the clock by so many milliseconds while it is answered.
struct Timed: APIRequest {
  typealias Response = Int
  let milliseconds: Int
  init(_ milliseconds: Int) { self.milliseconds = milliseconds }
  var path: Path { "/timed/\(milliseconds)" }
}

/// Is answered with 500.
struct Broken: APIRequest {
  var path: Path { "/broken/x" }
}

/// Asks for a text that is wanted or not: so a list of one kind has both.
struct Wish: APIRequest {
  typealias Response = String
  /// `ok`, `held` or `broken`.
  let wish: String
  init(_ wish: String) { self.wish = wish }
  var path: Path { "/\(wish)/\(wish)" }
}

/// A step that waits for something that is no call.
struct Waiting: GroupStep {
  let latch: Latch
  var isStubborn = false
  var value = "late"
  func run(in group: GroupScope) async throws(APIError) -> String {
    if isStubborn {
      await latch.waitStubbornly()
      return value
    }
    guard (try? await latch.wait()) != nil else { throw APIError(.cancelled, .cancelled, "The wait was cancelled.") }
    return value
  }
}
