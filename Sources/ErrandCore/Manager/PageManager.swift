/// A long-lived object for a list that is loaded page by page. The manager loads the next page, stores the items that
/// were loaded so far, and notifies one delegate.
///
/// ```swift
/// let posts = PageManager(client, first: GetPosts())
/// posts.delegate = page      // an APIManagerDelegate
/// posts.loadNext()
/// ```
///
/// A manager that is deallocated cancels its call. The manager is isolated to the main actor and notifies its delegate
/// on the main actor.
@MainActor
public final class PageManager<R: PagedRequest>: APIManaging {
  /// The delegate of the manager. The reference is weak.
  public weak var delegate: (any APIManagerDelegate)?
  /// The items of all loaded pages, in order.
  public private(set) var items: [R.Item] = []
  /// The items of the page that was loaded last.
  public private(set) var lastItems: [R.Item] = []
  package private(set) var pageCount = 0
  /// The outcome of the call that ended last; nil if no call has ended since the manager was made or since the last
  /// ``reset()``. While the delegate is notified of a call that ``reset()`` cancelled, the value is the outcome of that
  /// call.
  public var lastOutcome: Outcome<R.Response>? { lateOutcome ?? keptOutcome }
  /// The request for the first page. A changed request takes effect at the next ``reset()``.
  public var first: R

  private let client: APIClient
  private var options: CallOptions
  private let owner = CallOwner()
  private var upcoming: R?
  private var loading: Call?
  private var loaded = LoadedPages()
  private var keptOutcome: Outcome<R.Response>?
  /// The outcome of a call that ``reset()`` cancelled. The property is set only while the delegate is notified of that
  /// call; otherwise the property is nil.
  private var lateOutcome: Outcome<R.Response>?
  /// The number of calls and resets so far. Each call keeps the value that this number had when the call started. If
  /// the value has changed when the call ends, the manager was reset, and the call is outdated.
  private var turn = 0

  /// Makes a manager that has loaded nothing.
  ///
  /// - Parameters:
  ///   - client: The client that sends the requests.
  ///   - first: The request for the first page. If the API has a page size, this request contains the page size.
  ///   - options: The options of each call. The manager replaces the option `owner`, so that it can cancel its own
  ///     calls.
  public init(_ client: APIClient, first: R, options: CallOptions = CallOptions()) {
    self.client = client
    self.first = first
    upcoming = first
    var options = options
    options.owner = owner
    self.options = options
  }

  /// True if at least one more page can be loaded. False after the last page, and after a page that an equal request
  /// had loaded before.
  public var hasMore: Bool { upcoming != nil }

  /// The error of the last outcome; nil if the last call succeeded, or if no call has ended.
  public var lastError: APIError? { lastOutcome?.error }

  /// True if a page is loading.
  public var isLoading: Bool { loading != nil }

  /// Loads the next page; after a failure, loads the failed page again. Returns false and does nothing if a page is
  /// already loading, or if the last page was loaded. If an equal request has loaded the same page before, the page
  /// fails with the code ``APIError/Code/pageLoop``, and the list ends: only ``reset()`` starts it again.
  @discardableResult
  public func loadNext() -> Bool {
    guard loading == nil, let request = upcoming else { return false }
    turn &+= 1
    let turn = turn
    // All pages of a list must belong to one account. So the account of the first page is required for all later pages.
    if pageCount == 0 { options.requiredAccount = client.accountToRequire }
    let call = client.start(outcomeOf: request, options: options) { [weak self] outcome in
      self?.end(outcome, of: request, turn)
    }
    // An accessory of the call may have called `reset` before `start` returned. In this case the new call is outdated.
    if turn == self.turn { loading = call } else { call.cancel() }
    return true
  }

  /// Cancels the call that is loading a page, and removes all loaded pages, so that ``loadNext()`` loads the first
  /// page. The delegate is notified of the cancelled call.
  public func reset() {
    cancelAll()
    turn &+= 1
    (items, lastItems, pageCount, keptOutcome, lateOutcome) = ([], [], 0, nil, nil)
    upcoming = first
    loaded = LoadedPages()
  }

  /// Cancels the call that is loading a page. The delegate is notified of a failure with the stage
  /// ``APIError/Stage/cancelled``.
  public func cancelAll() {
    // An accessory may call this method while the call starts, before `loading` is set.
    owner.cancelAll()
    loading = nil
  }

  private func end(_ outcome: Outcome<R.Response>, of request: R, _ turn: Int) {
    guard turn == self.turn else { return end(late: outcome) }
    loading = nil
    keptOutcome = checked(outcome, of: request)
    guard let page = keptOutcome?.full else {
      delegate?.managerFailed(self)
      return
    }
    lastItems = request.items(of: page.value)
    items += lastItems
    pageCount += 1
    upcoming = request.next(after: page)
    delegate?.managerFinished(self)
  }

  /// Returns the outcome. If an equal request has loaded the same page before, ends the list and returns a failure.
  private func checked(_ outcome: Outcome<R.Response>, of request: R) -> Outcome<R.Response> {
    guard let page = outcome.full else { return outcome }
    do throws(APIError) {
      try loaded.add(page, of: request)
      return outcome
    } catch {
      // A list that loads a page whenever ``hasMore`` is true would otherwise request this page forever.
      upcoming = nil
      return outcome.with(.failure(error))
    }
  }

  /// Reports the outcome of a call that ``reset()`` has made outdated. If a hook of the call reset the manager, the
  /// call may still succeed. The success is then reported as a cancellation.
  private func end(late outcome: Outcome<R.Response>) {
    lateOutcome = outcome.error == nil ? outcome.cancelled : outcome
    delegate?.managerFailed(self)
    lateOutcome = nil
  }
}
