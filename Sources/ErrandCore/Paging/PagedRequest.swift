import ErrandSupport
import Foundation

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
  /// request that fetched `page`. To follow a link of the server, set the path to ``RequestPath/init(link:)``.
  ///
  /// If an equal request has already loaded the same page of the list, the list ends with an error of code
  /// ``APIError/Code/pageLoop``. To ask a server repeatedly until it has more items, send a request in a loop of your
  /// own.
  func next(after page: APIResponse<Response>) -> Self?
}

extension APIClient {
  /// The pages of a request, in order. Each page is fetched by one call; its value has the request, the response, the
  /// origin and the metrics of that call.
  ///
  /// Each loop over the sequence starts at the first page. If the loop is left early, a page that is being prefetched
  /// is cancelled. The first error of a call ends the sequence. If the task of the loop is cancelled, no further page
  /// is fetched, and the sequence throws a cancellation error.
  ///
  /// If equal requests have fetched two pages with equal bodies, the list would never end, so the sequence throws an
  /// error of code ``APIError/Code/pageLoop`` instead of the second page. Requests are equal if the method, the URL
  /// after redirects, the ``APIRequest/headers`` and the body are equal. A body that is read while it is sent equals no
  /// other body.
  ///
  /// - Parameters:
  ///   - request: The request for the first page.
  ///   - options: The options of each call.
  ///   - prefetches: True to request the next page while the loop processes the current page.
  public func pages<R: PagedRequest>(
    of request: R, options: CallOptions = CallOptions(), prefetches: Bool = false
  ) -> some AsyncSequence<APIResponse<R.Response>, APIError> & Sendable {
    PageSequence(client: self, first: request, options: options, prefetches: prefetches)
  }

  /// The items of all pages of a request, in order. The parameters are those of
  /// ``pages(of:options:prefetches:)``.
  public func items<R: PagedRequest>(
    of request: R, options: CallOptions = CallOptions(), prefetches: Bool = false
  ) -> some AsyncSequence<R.Item, APIError> & Sendable {
    ItemSequence(pages: PageSequence(client: self, first: request, options: options, prefetches: prefetches))
  }
}

/// The pages of a list that were loaded, to find a list that never ends.
struct LoadedPages: Sendable {
  private struct Page: Sendable, Hashable {
    let method, url: ByteText
    /// Some servers page by a header field, such as `Range`.
    let headers: RequestHeaders
    /// The hashes of the bodies, because a list may have many pages. Requests without a body have none.
    let bodyHash: Int?
    /// The hash of the response body. Some servers store the position in the list themselves, so that equal requests
    /// return different pages.
    let responseHash: Int
  }

  private var pages: Set<Page> = []

  /// Adds a page and its request.
  /// - Throws: ``APIError`` if an equal request has loaded an earlier page with the same response body.
  mutating func add<R: PagedRequest>(_ page: APIResponse<R.Response>, of request: R) throws(APIError) {
    let sent = page.request
    // A body that is read while it is sent cannot be compared.
    if let body = sent.body, body.data == nil { return }
    let (isNew, _) = pages.insert(
      Page(
        method: ByteText(sent.method.rawValue), url: ByteText(sent.url.string), headers: request.headers,
        bodyHash: sent.body?.data.map(Self.hash), responseHash: Self.hash(of: page.raw.body)))
    if isNew { return }
    let sentence =
      "The request for the next page, \(sent.method) \(sent.url), has loaded the same page before, so the list would"
      + " never end; return nil from `next(after:)` after the last page, and follow a link by `RequestPath(link:)`."
    throw APIError(.validate, .pageLoop, sentence).with {
      ($0.request, $0.response, $0.metrics) = (sent, page.raw, page.metrics)
    }
  }

  /// The hash of all bytes. `Data` itself hashes only its first bytes.
  private static func hash(of body: Data) -> Int {
    var hasher = Hasher()
    body.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}

struct PageSequence<R: PagedRequest>: AsyncSequence, Sendable {
  typealias Element = APIResponse<R.Response>

  let client: APIClient
  let first: R
  let options: CallOptions
  let prefetches: Bool

  func makeAsyncIterator() -> Iterator { Iterator(self) }

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

  struct Iterator: AsyncIteratorProtocol {
    private let sequence: PageSequence
    /// The account that was logged in when the loop started; empty if no account was logged in, nil if the client has no
    /// credential provider. All pages must belong to this account.
    private let account: String?
    private var upcoming: R?
    private var fetch: Fetch?
    private var loaded = LoadedPages()

    init(_ sequence: PageSequence) {
      self.sequence = sequence
      account = sequence.client.accountToRequire
      upcoming = sequence.first
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> Element? {
      try await nextAsked(isolation: actor)?.page
    }

    /// The next page and the request that fetched it; nil after the last page.
    mutating func nextAsked(
      isolation actor: isolated (any Actor)?
    ) async throws(APIError) -> (request: R, page: Element)? {
      guard let current = try takeFetch() else { return nil }
      let task = current.task
      let result = await withTaskCancellationHandler(
        operation: {
          _ = actor
          return await task.value
        },
        onCancel: { task.cancel() }, isolation: actor)
      let page = try result.get()
      try loaded.add(page, of: current.request)
      upcoming = current.request.next(after: page)
      if sequence.prefetches, !Task.isCancelled, let upcoming { fetch = Fetch(upcoming, sequence, account) }
      return (current.request, page)
    }

    /// Takes the running fetch of the next page, or starts it; nil after the last page.
    /// - Throws: ``APIError`` if the task is cancelled and a page is left. The cancellation of the task must be checked
    ///   here, because a page that was prefetched completely does not notice it.
    private mutating func takeFetch() throws(APIError) -> Fetch? {
      defer { (fetch, upcoming) = (nil, nil) }
      guard fetch != nil || upcoming != nil else { return nil }
      if Task.isCancelled { throw .stopped(.cancelled) }
      return fetch ?? upcoming.map { Fetch($0, sequence, account) }
    }
  }
}

struct ItemSequence<R: PagedRequest>: AsyncSequence, Sendable {
  let pages: PageSequence<R>

  func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    var pages: PageSequence<R>.Iterator
    private var items: ArraySlice<R.Item> = []

    init(pages: PageSequence<R>.Iterator) { self.pages = pages }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(APIError) -> R.Item? {
      while items.isEmpty {
        guard let (request, page) = try await pages.nextAsked(isolation: actor) else { return nil }
        items = request.items(of: page.value)[...]
      }
      return items.popFirst()
    }
  }
}
