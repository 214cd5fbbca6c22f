/// The pages of a request. Each page is fetched by one call. Each loop over the sequence starts at the first page. If
/// the loop is left early, a page that is being prefetched is cancelled.
public struct PageSequence<R: PagedRequest>: AsyncSequence, Sendable {
  /// A page with its request, response, origin and metrics.
  public typealias Element = APIResponse<R.Response>
  /// The type of the errors that the sequence throws. The first error of a call ends the sequence.
  public typealias Failure = APIError

  let client: APIClient
  let first: R
  let options: CallOptions
  let prefetches: Bool

  /// Makes an iterator that starts at the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// A running task that fetches one page. The iterator owns this object. If the iterator is released, this object is
  /// released, too, and cancels the task.
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
    /// The account that was logged in when the loop started; nil if no account was logged in. All pages must belong to
    /// this account.
    private let account: String?
    private var upcoming: R?
    private var fetch: Fetch?

    init(_ sequence: PageSequence) {
      self.sequence = sequence
      account = sequence.client.presentAccount
      upcoming = sequence.first
    }

    /// The next page; nil after the last page.
    /// - Throws: ``APIError``.
    public mutating func next() async throws(APIError) -> Element? { try await next(isolation: #isolation) }

    /// The next page; nil after the last page.
    /// - Throws: ``APIError``.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Element? {
      try await nextAsked(isolation: actor)?.page
    }

    /// The next page and the request that fetched it; nil after the last page.
    mutating func nextAsked(
      isolation actor: isolated (any Actor)?
    ) async throws(APIError) -> (request: R, page: Element)? {
      guard let current = fetch ?? upcoming.map({ Fetch($0, sequence, account) }) else { return nil }
      (fetch, upcoming) = (nil, nil)
      let task = current.task
      let result = await withTaskCancellationHandler(
        operation: {
          _ = actor
          return await task.value
        },
        onCancel: { task.cancel() }, isolation: actor)
      let page = try result.get()
      upcoming = current.request.next(after: page)
      if sequence.prefetches, let upcoming { fetch = Fetch(upcoming, sequence, account) }
      return (current.request, page)
    }
  }
}
