import ErrandCache
import ErrandCore
import ErrandSupport

/// The work behind one sequence of ``Outbox/values(of:)``: one task, which handles the results of calls and the changes
/// of entries one after the other.
struct PatchedValues<R: APIRequest> {
  private enum Event: Sendable {
    /// A response of a call.
    case base(APIResponse<R.Response>, Stamp)
    case failed(APIError, Stamp)
    case touched
  }

  /// Says when a call began.
  private struct Stamp: Sendable {
    /// The number of changes of the account before the call.
    var accounts = 0
    /// The number of earlier calls after a delivery.
    var deliveries = 0
    /// The entries that were delivered before the call.
    var delivered: Set<Int64> = []
  }

  private let outbox: Outbox
  private let request: R
  private let output: AsyncThrowingStream<R.Response, any Error>.Continuation
  private var base: R.Response?
  /// When `base` was requested.
  private var moment = ResponseMoment.live(after: [])
  /// Whether `base` contains delivered changes that the outbox no longer keeps.
  private var hasForgottenChanges = false
  /// The account for which `base` was received.
  private var account: String
  /// `base` with all patches that it lacks.
  private var value: R.Response?
  private var patches = PatchFollower<R>()
  /// The stamp of the last call. A response is not used if the account changed after its call began, and only as the
  /// first one if an entry was delivered after its call began.
  private var stamp = Stamp()
  /// Whether an entry was delivered, or may have been carried out, after the last call began.
  private var isOutOfDate = false

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
      self.stamp.delivered = patches.delivered
      let (client, request, first, began) = (outbox.runner.client, request, options(), stamp)
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask {
          for await _ in touches where isTouched.raise() { event.yield(.touched) }
          event.finish()
        }
        group.addTask {
          do throws(APIError) {
            for try await response in client.cachedThenFresh(request, options: first, omitsUnchanged: false) {
              event.yield(.base(response, began))
            }
          } catch { event.yield(.failed(error, began)) }
        }
        for await next in events {
          if case .touched = next { isTouched.lower() }
          if try await handle(next) {
            self.stamp.delivered = patches.delivered
            let (stamp, options) = (stamp, options(.ignoringCache))
            group.addTask {
              do throws(APIError) {
                event.yield(.base(try await client.response(request, options: options), stamp))
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
    case .base(let response, let began):
      guard began.accounts == stamp.accounts, base == nil || began.deliveries == stamp.deliveries else { return false }
      let moment = ResponseMoment(response, after: began.delivered)
      // The value stays the same, unless the server has not adopted a change that was laid over the stored response.
      let isRepeated =
        base != nil && response.isUnchanged && !hasForgottenChanges
        && patches.deliveries(lackedBy: moment) == patches.deliveries(lackedBy: self.moment)
      (base, self.moment, hasForgottenChanges) = (response.value, moment, false)
      return try await update(always: !isRepeated)
    case .touched: return try await update(always: false)
    }
  }

  /// Lays the patches over the last response. Those of delivered entries are laid over it until the server's next
  /// response. Returns true if the request must be sent again.
  private mutating func update(always: Bool) async throws -> Bool {
    let count = patches.deliveryCount
    let change = try await patches.follow(outbox.runner)
    let forgotten = patches.takeForgotten()
    guard patches.account.hasSameBytes(as: account) else {
      (account, base, value, isOutOfDate, hasForgottenChanges) = (patches.account, nil, nil, false, false)
      stamp.accounts += 1
      return true
    }
    if patches.deliveryCount > count { isOutOfDate = true }
    guard var base, always || change != .none else { return false }
    if !forgotten.isEmpty {
      patches.lay(forgotten[...], over: &base, of: request, moment)
      (self.base, hasForgottenChanges) = (base, true)
    }
    var (next, new) = (base, patches.entries[...])
    // The cost of an added entry does not depend on the number of entries that wait.
    if case .appended(let added) = change, !always, let value { (next, new) = (value, patches.entries.suffix(added)) }
    patches.lay(new, over: &next, of: request, moment)
    value = next
    output.yield(next)
    guard isOutOfDate else { return false }
    isOutOfDate = false
    stamp.deliveries += 1
    return true
  }
}

/// Follows the entries that change the responses of one type of request.
struct PatchFollower<R: APIRequest> {
  enum Change: Equatable {
    case none
    /// So many entries were added after all others.
    case appended(Int)
    case other
  }

  /// The entries that wait, and those that were delivered lately, in the order in which they were added.
  private(set) var entries: [EntryPatches] = []
  private(set) var account = ""
  /// The number of deliveries that were noticed, and of entries that ended otherwise although the server may have
  /// carried them out.
  private(set) var deliveryCount = 0
  /// The entries whose changes the server has, but that the outbox no longer keeps, since the last call of
  /// ``takeForgotten()``: delivered entries whose requests were removed, and those whose response could not be read.
  private var forgotten: [EntryPatches] = []
  /// The time of the clock of the cache.
  private var now = WallTime(milliseconds: 0)
  private var cursor: WaitingPatches.Cursor?

  /// The entries that were delivered lately.
  var delivered: Set<Int64> { Set(entries.lazy.filter { $0.delivered != nil }.map(\.id)) }

  /// The entries whose changes the server has, but that the outbox no longer keeps, since the last call.
  mutating func takeForgotten() -> [EntryPatches] {
    defer { forgotten = [] }
    return forgotten
  }

  /// The delivered entries whose changes are laid over a response.
  func deliveries(lackedBy moment: ResponseMoment) -> [Int64] {
    entries.filter { $0.delivered != nil && moment.lacks($0.id, delivered: $0.delivered, at: now) }.map(\.id)
  }

  /// Lays the changes of all entries over a response.
  func lay(over value: inout R.Response, of request: R, _ moment: ResponseMoment) {
    lay(entries[...], over: &value, of: request, moment)
  }

  func lay(_ entries: ArraySlice<EntryPatches>, over value: inout R.Response, of request: R, _ moment: ResponseMoment) {
    for entry in entries where moment.lacks(entry.id, delivered: entry.delivered, at: now) {
      entry.apply(to: &value, of: request)
    }
  }

  @discardableResult
  mutating func follow(_ runner: OutboxRunner) async throws(OutboxError) -> Change {
    let cursor = cursor
    let (news, now) = try await runner.perform { (try $0.patchNews(for: R.self, since: cursor), $0.cacheTime) }
    let isSameAccount = account.hasSameBytes(as: news.account)
    (self.cursor, self.now, account) = (news.cursor, now, news.account)
    var ended: [EntryPatches] = []
    let change = news.isWhole ? replace(news.entries, &ended) : follow(news, &ended)
    // The entries of another account have not ended.
    if isSameAccount, !ended.isEmpty { try await examine(ended, runner) }
    return change
  }

  /// Looks for entries whose changes the server has, or may have. It has the change if the entry was delivered and its
  /// request was removed before this follower noticed the delivery, or if only the response could not be read.
  private mutating func examine(_ ended: [EntryPatches], _ runner: OutboxRunner) async throws(OutboxError) {
    let ids = ended.map(\.id)
    let facts = try await runner.perform { runner in try ids.compactMap { try runner.store.facts(of: $0) } }
    let sent = facts.filter { $0.state == .delivered || $0.state.isFinal && $0.unknownSince != nil }
    let carriedOut = Set(sent.lazy.filter { $0.state == .delivered || $0.reason?.code == .response }.map(\.id))
    deliveryCount += sent.count
    forgotten += ended.filter { carriedOut.contains($0.id) }
  }

  /// - Parameter ended: Receives the entries that waited, and whose patches apply no more.
  private mutating func replace(_ new: [EntryPatches], _ ended: inout [EntryPatches]) -> Change {
    if new.elementsEqual(entries, by: { $0.id == $1.id && $0.state == $1.state }) { return .none }
    let (earlier, present) = (delivered, Set(new.map(\.id)))
    let gone = entries.filter { !present.contains($0.id) }
    forgotten += gone.filter { $0.delivered != nil }
    ended += gone.filter { $0.delivered == nil }
    entries = new
    deliveryCount += delivered.subtracting(earlier).count
    return .other
  }

  /// - Parameter ended: Receives the entries that waited, and whose patches apply no more.
  private mutating func follow(_ news: WaitingPatches.News, _ ended: inout [EntryPatches]) -> Change {
    let count = entries.count
    var isOther = false
    for id in news.ended {
      guard let old = entries.set(nil, for: id) else { continue }
      isOther = true
      if old.delivered != nil { forgotten.append(old) } else { ended.append(old) }
    }
    for new in news.entries {
      let isLast = entries.last.map { $0.id < new.id } ?? true
      let old = entries.set(new, for: new.id)
      if new.delivered != nil, old?.delivered == nil { deliveryCount += 1 }
      isOther = isOther || !isLast && old?.state != new.state
    }
    return isOther ? .other : entries.count > count ? .appended(entries.count - count) : .none
  }
}

/// Whether an event waits to be handled, so that many events at once are handled once.
private final class Flag: Sendable {
  private let isRaised = Locked(false)

  /// Returns true if the flag was not raised.
  func raise() -> Bool { isRaised.setOnce() }

  func lower() { isRaised.withLock { $0 = false } }
}
