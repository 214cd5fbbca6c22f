/// An offer, in the format of the server.
struct Offer: Decodable, Sendable {
  let id: Int
  let title: String
  /// The price; nil if the buyer must ask the seller.
  let cents: Int?
  let seller: Seller

  struct Seller: Decodable, Sendable {
    let name: String
    let sales: Int
  }
}
