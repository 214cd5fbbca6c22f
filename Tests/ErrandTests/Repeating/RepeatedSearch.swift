import Errand
import ErrandCore

/// A search whose repeat rule the test sets.
struct RepeatedSearch: APIRequest {
  typealias Response = String
  let text: String
  var repeats: RepeatRule
  var path: Path { "/search" }
  var arguments: Arguments { ["q": text] }
  var overlap: Overlap { Overlap(repeats: repeats) }
}
