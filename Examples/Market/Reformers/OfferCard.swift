import Errand

/// What the list and the basket show of an offer: one line.
struct OfferCard: Reformer {
  func reform(_ offer: Offer) -> String {
    "\(offer.title), \(offer.cents.map(Price.text) ?? "price on request")"
  }
}
