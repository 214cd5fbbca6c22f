/// The items of all pages of a request. Each loop begins at the first page.
public struct ItemSequence<R: PagedRequest>: AsyncSequence, Sendable {
  /// An item of a page.
  public typealias Element = R.Item
  /// What a call throws; nothing follows it.
  public typealias Failure = APIError

  let pages: PageSequence<R>

  /// Begins at the first page.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pages: pages.makeAsyncIterator())
  }

  /// Takes the pages apart.
  public struct Iterator: AsyncIteratorProtocol {
    var pages: PageSequence<R>.Iterator
    private var items: ArraySlice<R.Item> = []

    init(pages: PageSequence<R>.Iterator) { self.pages = pages }

    /// The next item; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> R.Item? { try await next(isolation: #isolation) }

    /// The next item; nil behind the last one.
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
