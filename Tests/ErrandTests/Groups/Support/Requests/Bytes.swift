import Errand

/// Requests bytes.
struct Bytes: APIRequest {
  let text: String
  init(_ text: String) { self.text = text }
  var path: Path { "/bytes/\(text)" }
}
