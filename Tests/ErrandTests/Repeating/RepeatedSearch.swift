import Errand

/// A search with a rule for repeats that a test chooses.
struct RepeatedSearch: APIRequest {
  typealias Response = String
  let text: String
  var repeats: RepeatRule
  var path: Path { "/search" }
  var arguments: Arguments { ["q": text] }
}
