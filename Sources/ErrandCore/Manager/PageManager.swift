/// A long-lived object for a list that is loaded page by page. It loads the next page, stores the items that were
/// loaded so far, and notifies one delegate.
///
/// ```swift
/// let posts = PageManager(client, first: GetPosts())
/// posts.delegate = page
/// posts.loadNext()
/// ```
///
/// A manager that is deallocated cancels its call. It is isolated to the main actor and notifies its delegate on the
/// main actor.
@MainActor
public final class PageManager<R: PagedRequest>: APIManaging {
  /// The delegate of the manager. The reference is weak.
  public weak var delegate: (any APIManagerDelegate)?
  /// The items of all loaded pages, in order.
  public private(set) var items: [R.Item] = []
  /// The items of the page that was loaded last.
  public private(set) var lastItems: [R.Item] = []
  /// The number of loaded pages.
  public private(set) var pageCount = 0
  /// The outcome of the call that ended last; nil if no call has ended since the start or the last ``reset()``. The
  /// outcome of a call that a reset cancelled is available only while the delegate is notified of it.
  public var lastOutcome: Outcome<R.Response>? { lateOutcome ?? keptOutcome }
  /// The request for the first page. A new value is used after the next ``reset()``.
  public var first: R

  private let client: APIClient
  private var options: CallOptions
  private let owner = CallOwner()
  private var upcoming: R?
  private var loading: Call?
  private var keptOutcome: Outcome<R.Response>?
  /// The outcome of a call that a reset cancelled, while the delegate is notified of it; nil at other times.
  private var lateOutcome: Outcome<R.Response>?
  /// Counts calls and resets. A call that ends with an older number was outdated by a reset.
  private var turn = 0

  /// Makes a manager that has loaded nothing.
  ///
  /// - Parameters:
  ///   - client: The client that sends.
  ///   - first: The request for the first page; it contains the page size.
  ///   - options: The options of each call; the manager becomes the owner of the calls.
  public init(_ client: APIClient, first: R, options: CallOptions = CallOptions()) {
    self.client = client
    self.first = first
    upcoming = first
    var options = options
    options.owner = owner
    self.options = options
  }

  /// True if there is a page after the loaded pages.
  public var hasMore: Bool { upcoming != nil }

  /// The error of the last outcome; nil if the last call succeeded, or if no call has ended.
  public var lastError: APIError? { lastOutcome?.error }

  /// True if a page is loading.
  public var isLoading: Bool { loading != nil }

  /// Loads the next page; after a failure, loads the failed page again. Returns false and does nothing if a page is
  /// already loading, or if the last page was loaded.
  @discardableResult
  public func loadNext() -> Bool {
    guard loading == nil, let request = upcoming else { return false }
    turn &+= 1
    let turn = turn
    // The first page sets the account, because all pages of a list must belong to one account.
    if pageCount == 0 { options.requiredAccount = client.presentAccount }
    let call = client.start(outcomeOf: request, options: options) { [weak self] outcome in
      self?.end(outcome, of: request, turn)
    }
    // An accessory may have called `reset` and `loadNext` while the call started. Then this call is outdated.
    if turn == self.turn { loading = call } else { call.cancel() }
    return true
  }

  /// Cancels the page that is loading and removes all loaded pages, so that the next page is the first one. The
  /// delegate is notified of the cancelled call.
  public func reset() {
    cancelAll()
    turn &+= 1
    (items, lastItems, pageCount, keptOutcome, lateOutcome) = ([], [], 0, nil, nil)
    upcoming = first
  }

  /// Cancels the page that is loading. The delegate receives a failure of stage `cancelled`.
  public func cancelAll() {
    loading?.cancel()
    loading = nil
  }

  private func end(_ outcome: Outcome<R.Response>, of request: R, _ turn: Int) {
    guard turn == self.turn else { return end(late: outcome) }
    loading = nil
    keptOutcome = outcome
    guard let page = outcome.full else {
      delegate?.managerFailed(self)
      return
    }
    lastItems = request.items(of: page.value)
    items += lastItems
    pageCount += 1
    upcoming = request.next(after: page)
    delegate?.managerFinished(self)
  }

  /// Reports the outcome of an outdated call. If a hook of the call reset the manager, the call may still succeed; it
  /// is then reported as cancelled.
  private func end(late outcome: Outcome<R.Response>) {
    lateOutcome = outcome.error == nil ? outcome.cancelled : outcome
    delegate?.managerFailed(self)
    lateOutcome = nil
  }
}
