import Errand

/// A search by word and price; a new one takes the place of the one before it.
struct SearchOffers: APIRequest {
  let word: String
  var cents = 0...1_000_000
  var path: Path { "/search" }
  var arguments: Arguments { ["q": word, "from": cents.lowerBound, "to": cents.upperBound] }
  var repeats: RepeatRule { .cancelPrevious }
  struct Response: Decodable, Sendable { let titles: [String] }

  func check() throws {
    guard word.count > 1 else { throw WrongParameter("a search needs two letters at least") }
    guard cents.lowerBound >= 0 else { throw WrongParameter("a price is not below 0") }
  }
}
