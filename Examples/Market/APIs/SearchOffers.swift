import Errand

/// A search by word and price; a new one cancels the one before it.
struct SearchOffers: APIRequest {
  let word: String
  var cents = 0...1_000_000
  var path: Path { "/search" }
  var arguments: Arguments { ["q": word, "from": cents.lowerBound, "to": cents.upperBound] }
  var overlap: Overlap { Overlap(repeats: .cancelPrevious) }
  struct Response: Decodable, Sendable { let titles: [String] }

  func check() throws {
    guard word.count > 1 else { throw WrongParameter("a search word needs at least two letters") }
    guard cents.lowerBound >= 0 else { throw WrongParameter("a price must not be below 0") }
  }
}
