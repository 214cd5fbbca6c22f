import Errand

/// Requests a text.
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
