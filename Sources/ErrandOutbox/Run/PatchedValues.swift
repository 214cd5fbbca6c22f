import ErrandCore
import ErrandSupport

/// The work behind one sequence of ``Outbox/values(of:)``: one task, which handles the results of calls and the changes
/// of entries one after the other.
struct PatchedValues<R: APIRequest> {
  private enum Event: Sendable {
    /// A response of a call.
    case base(R.Response, Stamp)
    case failed(APIError, Stamp)
    case touched
  }

  /// Says when a call began.
  private struct Stamp: Sendable {
    /// The number of changes of the account before the call.
    var accounts = 0
    /// The number of deliveries before the call.
    var deliveries = 0
  }

  private let outbox: Outbox
  private let request: R
  private let output: AsyncThrowingStream<R.Response, any Error>.Continuation
  private var base: R.Response?
  /// The account for which `base` was received.
  private var account: String
  /// `base` with the patches of all waiting entries.
  private var value: R.Response?
  private var patches = PatchFollower<R>()
  /// The present numbers. A response is not used if the account changed after its call began, and only as the first one
  /// if an entry was delivered after its call began.
  private var stamp = Stamp()

  init(_ outbox: Outbox, _ request: R, _ output: AsyncThrowingStream<R.Response, any Error>.Continuation) {
    (self.outbox, self.request, self.output) = (outbox, request, output)
    account = outbox.runner.client.presentAccount ?? ""
  }

  consuming func run() async {
    let (events, event) = AsyncStream.makeStream(of: Event.self)
    let touches = outbox.runner.watches.touches()
    let isTouched = Flag()
    do {
      // Before the first call, so that an entry that is delivered during the call is noticed.
      try await patches.follow(outbox.runner)
      account = patches.account
      let (client, request, first) = (outbox.runner.client, request, options())
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask {
          for await _ in touches where isTouched.raise() { event.yield(.touched) }
          event.finish()
        }
        group.addTask {
          do throws(APIError) {
            for try await response in client.cachedThenFresh(request, options: first) {
              event.yield(.base(response.value, Stamp()))
            }
          } catch { event.yield(.failed(error, Stamp())) }
        }
        for await next in events {
          if case .touched = next { isTouched.lower() }
          if try await handle(next) {
            let (stamp, options) = (stamp, options(.ignoringCache))
            group.addTask {
              do throws(APIError) {
                event.yield(.base(try await client.send(request, options: options), stamp))
              } catch { event.yield(.failed(error, stamp)) }
            }
          }
        }
        group.cancelAll()
      }
      output.finish()
    } catch let error as OutboxError where error.code == .closed {
      output.finish()
    } catch {
      output.finish(throwing: error)
    }
  }

  /// The options of a call for the present account. The call joins no exchange, because the server may have read the
  /// value for that exchange before a delivery.
  private func options(_ cache: CacheReadMode = .asDeclared) -> CallOptions {
    var options = CallOptions(cache: cache, joining: .never)
    (options.requiredAccount, options.requiresAccountAlways) = (account, true)
    return options
  }

  /// Handles an event. Returns true if the request must be sent again.
  private mutating func handle(_ event: Event) async throws -> Bool {
    switch event {
    case .failed(let error, let began):
      // The account may have changed although the event of the change has not arrived yet.
      if try await update(always: false) { return true }
      if base == nil, began.accounts == stamp.accounts { throw error }
      return false
    case .base(let value, let began):
      guard began.accounts == stamp.accounts, base == nil || began.deliveries == stamp.deliveries else { return false }
      base = value
      return try await update(always: true)
    case .touched: return try await update(always: false)
    }
  }

  /// Lays the entries that wait now over the last response. The changes of delivered entries stay in it until the
  /// server's next response. Returns true if the request must be sent again.
  private mutating func update(always: Bool) async throws -> Bool {
    let change = try await patches.follow(outbox.runner)
    guard patches.account.hasSameBytes(as: account) else {
      (account, base, value) = (patches.account, nil, nil)
      _ = patches.takeEnded()
      stamp.accounts += 1
      return true
    }
    guard var base, always || change != .none else { return false }
    var isDelivered = false
    for old in patches.takeEnded() where try await outbox.entry(.init(rawValue: old.id))?.state == .delivered {
      old.apply(to: &base, of: request)
      isDelivered = true
    }
    self.base = base
    var (next, new) = (base, patches.waiting[...])
    // The cost of an added entry does not depend on the number of entries that wait.
    if case .appended(let count) = change, !always, let value { (next, new) = (value, patches.waiting.suffix(count)) }
    for entry in new { entry.apply(to: &next, of: request) }
    value = next
    output.yield(next)
    if isDelivered { stamp.deliveries += 1 }
    return isDelivered
  }
}

/// Follows the waiting entries that change the responses of one type of request.
struct PatchFollower<R: APIRequest> {
  enum Change: Equatable {
    case none
    /// So many entries were added after all others.
    case appended(Int)
    case other
  }

  private(set) var waiting: [EntryPatches] = []
  /// The account whose entries they are.
  private(set) var account = ""
  private var ended: [EntryPatches] = []
  private var cursor: WaitingPatches.Cursor?

  /// The entries that have ended since the last call.
  mutating func takeEnded() -> [EntryPatches] {
    defer { ended = [] }
    return ended
  }

  @discardableResult
  mutating func follow(_ runner: OutboxRunner) async throws(OutboxError) -> Change {
    let cursor = cursor
    let news = try await runner.perform { try $0.patchNews(for: R.self, since: cursor) }
    (self.cursor, account) = (news.cursor, news.account)
    return news.isWhole ? replace(news.entries) : follow(news)
  }

  private mutating func replace(_ new: [EntryPatches]) -> Change {
    defer { waiting = new }
    if new.elementsEqual(waiting, by: { $0.id == $1.id && $0.state == $1.state }) { return .none }
    let ids = Set(new.map(\.id))
    ended += waiting.filter { !ids.contains($0.id) }
    return .other
  }

  private mutating func follow(_ news: WaitingPatches.News) -> Change {
    let count = waiting.count
    let left = news.ended.compactMap { waiting.set(nil, for: $0) }
    ended += left
    var isOther = !left.isEmpty
    for new in news.entries {
      let isLast = waiting.last.map { $0.id < new.id } ?? true
      let old = waiting.set(new, for: new.id)
      isOther = isOther || !isLast && old?.state != new.state
    }
    return isOther ? .other : waiting.count > count ? .appended(waiting.count - count) : .none
  }
}

/// Whether an event waits to be handled, so that many events at once are handled once.
private final class Flag: Sendable {
  private let isRaised = Locked(false)

  /// Returns true if the flag was not raised.
  func raise() -> Bool {
    isRaised.withLock { isRaised in
      defer { isRaised = true }
      return !isRaised
    }
  }

  func lower() { isRaised.withLock { $0 = false } }
}
