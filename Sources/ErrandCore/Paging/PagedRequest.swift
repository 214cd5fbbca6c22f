/// A request whose response is one page of several. The request also makes the request for the next page.
///
/// ```swift
/// struct GetPosts: PagedRequest {
///   var cursor: String?
///   var path: Path { "/posts" }
///   var arguments: Arguments { ["cursor": cursor] }
///   struct Response: Decodable, Sendable { let posts: [Post]; let next: String? }
///
///   func items(of page: Response) -> [Post] { page.posts }
///   func next(after page: APIResponse<Response>) -> GetPosts? { page.value.next.map { GetPosts(cursor: $0) } }
/// }
/// for try await post in client.items(of: GetPosts()) { show(post) }
/// ```
public protocol PagedRequest: APIRequest {
  /// The type of the items in a page.
  associatedtype Item: Sendable

  /// Returns the items of a page, in order. This method is called on the request that fetched the page.
  func items(of page: Response) -> [Item]

  /// Returns the request for the page that follows `page`; nil after the last page. This method is called on the
  /// request that fetched `page`.
  func next(after page: APIResponse<Response>) -> Self?
}

extension APIClient {
  /// The pages of a request, in order. Each page is fetched by one call.
  ///
  /// - Parameters:
  ///   - request: The request for the first page.
  ///   - options: The options of each call.
  ///   - prefetches: True to request the next page while the loop processes the current page.
  public func pages<R: PagedRequest>(
    of request: R, options: CallOptions = CallOptions(), prefetches: Bool = false
  ) -> PageSequence<R> {
    PageSequence(client: self, first: request, options: options, prefetches: prefetches)
  }

  /// The items of all pages of a request, in order. The parameters are those of
  /// ``pages(of:options:prefetches:)``.
  public func items<R: PagedRequest>(
    of request: R, options: CallOptions = CallOptions(), prefetches: Bool = false
  ) -> ItemSequence<R> {
    ItemSequence(pages: pages(of: request, options: options, prefetches: prefetches))
  }
}
