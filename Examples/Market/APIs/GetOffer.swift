import Errand

/// One offer, cached for five minutes.
struct GetOffer: APIRequest {
  let id: Int
  var path: Path { "/offers/\(id)" }
  var cache: CachePolicy { .lifetime(.seconds(300)) }
  typealias Response = Offer

  func check() throws {
    guard id > 0 else { throw WrongParameter("the number of an offer must be above 0") }
  }
}
