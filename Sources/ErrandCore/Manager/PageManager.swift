/// One long-lived object for a list that comes page by page: it loads the next page, keeps the items so far, and tells
/// one delegate.
///
/// ```swift
/// let posts = PageManager(client, first: GetPosts())
/// posts.delegate = page
/// posts.loadNext()
/// ```
///
/// A manager that is freed cancels its call. It lives on the main actor, and tells its delegate there.
@MainActor
public final class PageManager<R: PagedRequest>: APIManaging {
  /// Who is told; held weakly.
  public weak var delegate: (any APIManagerDelegate)?
  /// The items of all pages so far, in order.
  public private(set) var items: [R.Item] = []
  /// The items of the last page alone.
  public private(set) var lastItems: [R.Item] = []
  /// How many pages have come.
  public private(set) var pageCount = 0
  /// How the last call to end has ended; nil before, and after ``reset()``. Of a call that was cancelled for a reset or
  /// for another page, while the delegate is told of it and no longer.
  public var lastOutcome: Outcome<R.Response>? { lateOutcome ?? keptOutcome }
  /// The request for the first page. Another one counts from ``reset()`` on.
  public var first: R

  private let client: APIClient
  private var options: CallOptions
  private let owner = CallOwner()
  private var upcoming: R?
  private var loading: Call?
  private var keptOutcome: Outcome<R.Response>?
  /// That of an older turn, while the delegate is told.
  private var lateOutcome: Outcome<R.Response>?
  /// Counts calls and resets, so that a call that was cancelled is told from what came after it.
  private var turn = 0

  /// Makes a manager that has loaded nothing.
  ///
  /// - Parameters:
  ///   - client: Who sends.
  ///   - first: The request for the first page, with the page size in it.
  ///   - options: What is chosen for each call; the calls' owner is the manager.
  public init(_ client: APIClient, first: R, options: CallOptions = CallOptions()) {
    self.client = client
    self.first = first
    upcoming = first
    var options = options
    options.owner = owner
    self.options = options
  }

  /// Whether there is a page behind those that have come.
  public var hasMore: Bool { upcoming != nil }

  /// The error of the last outcome; nil for success, and before.
  public var lastError: APIError? { lastOutcome?.error }

  /// Whether a page is under way.
  public var isLoading: Bool { loading != nil }

  /// Loads the next page; after a failure the same one again. Returns false, and does nothing, where one is under way
  /// already or there is no more.
  @discardableResult
  public func loadNext() -> Bool {
    guard loading == nil, let request = upcoming else { return false }
    turn &+= 1
    let turn = turn
    // The pages of a list are one account's.
    if pageCount == 0 { options.requiredAccount = client.presentAccount }
    let call = client.start(outcomeOf: request, options: options) { [weak self] outcome in
      self?.end(outcome, of: request, turn)
    }
    // An accessory that is told of the start may have begun anew.
    if turn == self.turn { loading = call } else { call.cancel() }
    return true
  }

  /// Cancels what is under way, which the delegate is told, and forgets all pages: the next one is the first.
  public func reset() {
    cancelAll()
    turn &+= 1
    (items, lastItems, pageCount, keptOutcome, lateOutcome) = ([], [], 0, nil, nil)
    upcoming = first
  }

  /// Cancels what is under way; the delegate is told a failure of stage `cancelled`.
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

  /// A page that came although it was not wanted any more, since a hook of its call has begun anew, is one that was
  /// cancelled.
  private func end(late outcome: Outcome<R.Response>) {
    lateOutcome = outcome.error == nil ? outcome.cancelled : outcome
    delegate?.managerFailed(self)
    lateOutcome = nil
  }
}
