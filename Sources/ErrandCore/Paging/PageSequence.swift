/// The pages of a request, one call each. Each loop begins at the first page; leaving it cancels what was fetched ahead.
public struct PageSequence<R: PagedRequest>: AsyncSequence, Sendable {
  /// A page, with all that came beside it.
  public typealias Element = APIResponse<R.Response>
  /// What a call throws; nothing follows it.
  public typealias Failure = APIError

  let client: APIClient
  let first: R
  let options: CallOptions
  let prefetches: Bool

  /// Begins at the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// The page that is being fetched; it is let go of with its iterator.
  private final class Fetch: Sendable {
    let request: R
    let task: Task<Result<Element, APIError>, Never>

    init(_ request: R, _ sequence: PageSequence, _ account: String?) {
      self.request = request
      var options = sequence.options
      options.requiredAccount = account
      let chosen = options
      task = Task { () async -> Result<Element, APIError> in
        do throws(APIError) {
          return .success(try await sequence.client.response(request, options: chosen))
        } catch {
          return .failure(error)
        }
      }
    }

    deinit { task.cancel() }
  }

  /// Fetches the pages.
  public struct Iterator: AsyncIteratorProtocol {
    private let sequence: PageSequence
    /// For whom the loop was begun: what follows is no other's.
    private let account: String?
    private var upcoming: R?
    private var fetch: Fetch?

    init(_ sequence: PageSequence) {
      self.sequence = sequence
      account = sequence.client.presentAccount
      upcoming = sequence.first
    }

    /// The next page; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> Element? { try await next(isolation: #isolation) }

    /// The next page; nil behind the last one.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Element? {
      try await nextAsked(isolation: actor)?.page
    }

    /// The next page, and the request that brought it.
    mutating func nextAsked(
      isolation actor: isolated (any Actor)?
    ) async throws(APIError) -> (request: R, page: Element)? {
      guard let current = fetch ?? upcoming.map({ Fetch($0, sequence, account) }) else { return nil }
      (fetch, upcoming) = (nil, nil)
      let task = current.task
      let came = await withTaskCancellationHandler(
        operation: {
          _ = actor
          return await task.value
        },
        onCancel: { task.cancel() }, isolation: actor)
      let page = try came.get()
      upcoming = current.request.next(after: page)
      if sequence.prefetches, let upcoming { fetch = Fetch(upcoming, sequence, account) }
      return (current.request, page)
    }
  }
}
