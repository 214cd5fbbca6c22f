import Errand

/// An offer on its sheet. The sheet has a button to buy, so it needs a price.
struct OfferSheet: Reformer {
  struct Sheet: Sendable, Equatable {
    let title: String
    let button: String
    let seller: String
  }

  func reform(_ offer: Offer) throws -> Sheet {
    guard let cents = offer.cents else { throw NoPrice(id: offer.id) }
    let sales = offer.seller.sales == 1 ? "1 sale" : "\(offer.seller.sales) sales"
    return Sheet(
      title: offer.title.uppercased(), button: "Buy for \(Price.text(cents))",
      seller: "\(offer.seller.name), \(sales)")
  }

  struct NoPrice: Error, CustomStringConvertible {
    let id: Int
    var description: String { "offer \(id) has no price" }
  }
}
