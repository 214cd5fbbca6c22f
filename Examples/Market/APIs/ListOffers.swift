import Errand

/// The offers, page by page, cached for a minute.
struct ListOffers: PagedRequest {
  var page = 1
  var path: Path { "/offers" }
  var arguments: Arguments { ["page": page] }
  var cache: CachePolicy { .lifetime(.seconds(60)) }
  struct Response: Decodable, Sendable {
    let offers: [Offer]
    let pages: Int
  }

  func items(of page: Response) -> [Offer] { page.offers }

  func next(after page: APIResponse<Response>) -> ListOffers? {
    self.page < page.value.pages ? ListOffers(page: self.page + 1) : nil
  }
}
