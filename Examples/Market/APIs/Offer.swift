/// An offer as the server tells it.
struct Offer: Decodable, Sendable {
  let id: Int
  let title: String
  /// Nil where the seller wants to be asked.
  let cents: Int?
  let seller: Seller

  struct Seller: Decodable, Sendable {
    let name: String
    let sales: Int
  }
}
