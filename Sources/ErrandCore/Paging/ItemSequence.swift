/// The items of all pages of a request. Each loop over the sequence starts at the first page.
public struct ItemSequence<R: PagedRequest>: AsyncSequence, Sendable {
  /// An item of a page.
  public typealias Element = R.Item
  /// The type of the errors that the sequence throws. The first error of a call ends the sequence.
  public typealias Failure = APIError

  let pages: PageSequence<R>

  /// Makes an iterator that starts at the first page.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pages: pages.makeAsyncIterator())
  }

  /// Fetches the pages and returns their items.
  public struct Iterator: AsyncIteratorProtocol {
    var pages: PageSequence<R>.Iterator
    private var items: ArraySlice<R.Item> = []

    init(pages: PageSequence<R>.Iterator) { self.pages = pages }

    /// The next item; nil after the last item of the last page.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> R.Item? { try await next(isolation: #isolation) }

    /// The next item; nil after the last item of the last page.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> R.Item? {
      while items.isEmpty {
        guard let (request, page) = try await pages.nextAsked(isolation: actor) else { return nil }
        items = request.items(of: page.value)[...]
      }
      return items.popFirst()
    }
  }
}
