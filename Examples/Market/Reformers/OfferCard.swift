import Errand

/// An offer in one line, for the list and the basket.
struct OfferCard: Reformer {
  func reform(_ offer: Offer) -> String {
    "\(offer.title), \(offer.cents.map(Price.text) ?? "price on request")"
  }
}
