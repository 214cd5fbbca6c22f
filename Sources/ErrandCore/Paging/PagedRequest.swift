/// A request whose answer is one page of many, and which knows how the next one is asked for.
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
  /// What a page holds several of.
  associatedtype Item: Sendable

  /// What a page holds, in order. It is asked of the request that brought the page.
  func items(of page: Response) -> [Item]

  /// The request for the page behind this one, which this request brought; nil behind the last one.
  func next(after page: APIResponse<Response>) -> Self?
}

extension APIClient {
  /// The pages of a request, one call each, in order.
  ///
  /// - Parameters:
  ///   - request: The request for the first page.
  ///   - options: What is chosen for each call.
  ///   - prefetches: Whether the page behind the one that the loop has is asked for already.
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
