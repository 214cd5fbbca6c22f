import Errand

/// One offer; kept for five minutes.
struct GetOffer: APIRequest {
  let id: Int
  var path: Path { "/offers/\(id)" }
  var cache: CachePolicy { .lifetime(.seconds(300)) }
  typealias Response = Offer

  func check() throws {
    guard id > 0 else { throw WrongParameter("an offer has a number above 0") }
  }
}
