import ErrandSupport

/// The state of a ``RefreshControl``: the running refreshes of credentials, the calls that wait for the refreshes, and
/// the latest results. `Waiter` is a waiting call. `Refresh` is one refresh, which several calls may share. The type
/// performs no I/O.
struct RefreshState<Waiter: Sendable, Refresh: Sendable>: Sendable {
  typealias Outcome = Result<Credential, APIError>

  /// The decision on a call that needs a newer credential: what the call must do.
  enum Decision {
    /// The call uses the given credential, which is newer than the credential that the server rejected.
    case use(Credential)
    /// The call fails with the error of the last refresh.
    case fail(APIError)
    /// The call starts a refresh of the credential, and waits for the end of the refresh.
    case begin(Refresh, Ticket)
    /// The call waits for the end of a refresh that another call has started.
    case wait(Refresh, Ticket)
    /// The call gets no newer credential. Either there were too many refreshes recently, or the running refresh may
    /// belong to another credential provider.
    case refuse
  }

  /// Identifies a call that waits for a refresh.
  struct Ticket: Sendable, Hashable {
    fileprivate let subject: RefreshSubject
    fileprivate let refresh: UInt64
    fileprivate let number: UInt64
  }

  private struct Entry: Sendable {
    let number: UInt64
    let old: Credential
    let refresh: Refresh
    var waiting: [UInt64: Waiter] = [:]
    var ended: (outcome: Outcome, moment: MonotonicInstant)?
    /// The times at which the recent refreshes of the account's credential started.
    var begun: [MonotonicInstant]
  }

  /// The time after a failed refresh during which calls with the rejected credential fail at once, without a new
  /// refresh.
  static var memory: Duration { .seconds(10) }
  /// The time after a temporarily failed refresh, for example because of the network, during which calls with the
  /// rejected credential fail at once, without a new refresh.
  static var shortMemory: Duration { .seconds(1) }
  /// The largest number of refreshes of an account that start within `window`. The limit stops endless refreshes if a
  /// server rejects every credential.
  static var limit: Int { 5 }
  /// The length of the time in which at most `limit` refreshes of an account may start.
  static var window: Duration { .seconds(30) }
  private static var kept: Int { 100 }

  private var entries: [RefreshSubject: Entry] = [:]
  private var last: UInt64 = 0

  /// The number of accounts whose running or latest refresh is recorded.
  var count: Int { entries.count }

  /// The number of calls that wait for a refresh.
  var waiting: Int { entries.values.reduce(0) { $0 + $1.waiting.count } }

  /// Decides what a call does if it needs a credential that is newer than `old`. If the call must wait, adds `waiter`
  /// to the waiting calls of the refresh.
  mutating func request(
    _ subject: RefreshSubject, _ old: Credential, _ waiter: Waiter, _ now: MonotonicInstant, refresh: () -> Refresh
  ) -> Decision {
    last &+= 1
    if var entry = entries[subject] {
      guard let ended = entry.ended else {
        // Two providers that are values of the same type cannot be distinguished. If the old credentials differ, the
        // running refresh may belong to the other provider, and this call must not get the credential of the other
        // provider.
        if !subject.isOfObject, entry.old != old { return .refuse }
        entry.waiting[last] = waiter
        entries[subject] = entry
        return .wait(entry.refresh, Ticket(subject: subject, refresh: entry.number, number: last))
      }
      if let known = known(ended, entry.old, old, now) { return known }
    }
    return begin(subject, old, waiter, now, refresh())
  }

  /// Decides what a call must do that needs a credential newer than `old`. The decision depends on the result of the
  /// last refresh. Returns nil if that result is of no use: the last refresh replaced another credential, returned
  /// `old` again, or failed too long ago. The call then needs a new refresh.
  private func known(
    _ ended: (outcome: Outcome, moment: MonotonicInstant), _ rejected: Credential, _ old: Credential,
    _ now: MonotonicInstant
  ) -> Decision? {
    switch ended.outcome {
    case .success(let new): rejected == old && new != old ? .use(new) : nil
    case .failure(let error):
      rejected == old && ended.moment.duration(to: now) < (error.mayHavePassed ? Self.shortMemory : Self.memory)
        ? .fail(error) : nil
    }
  }

  private mutating func begin(
    _ subject: RefreshSubject, _ old: Credential, _ waiter: Waiter, _ now: MonotonicInstant, _ refresh: Refresh
  ) -> Decision {
    let begun = (entries[subject]?.begun ?? []).filter { $0.duration(to: now) < Self.window }
    if begun.count >= Self.limit { return .refuse }
    if entries.count >= Self.kept { sweep(now) }
    let ticket = Ticket(subject: subject, refresh: last, number: last)
    entries[subject] = Entry(
      number: last, old: old, refresh: refresh, waiting: [last: waiter], begun: begun + [now])
    return .begin(refresh, ticket)
  }

  /// Forgets the accounts whose last refresh ended longer ago than `window`.
  private mutating func sweep(_ now: MonotonicInstant) {
    entries = entries.filter { _, entry in entry.ended.map { $0.moment.duration(to: now) < Self.window } ?? true }
  }

  /// Removes a call that no longer waits for its refresh. The refresh continues.
  mutating func cancelWait(_ ticket: Ticket) {
    guard entries[ticket.subject]?.number == ticket.refresh else { return }
    entries[ticket.subject]?.waiting[ticket.number] = nil
  }

  /// Removes all state of an account whose session has ended. Returns the running refreshes of the account and the
  /// calls that wait for these refreshes.
  mutating func end(_ account: String) -> [(refresh: Refresh, waiting: [Waiter])] {
    let ended = entries.filter { $0.key.account == ByteText(account) }
    for subject in ended.keys { entries[subject] = nil }
    return ended.values.filter { $0.ended == nil }.map { entry in
      (entry.refresh, entry.waiting.sorted { $0.key < $1.key }.map(\.value))
    }
  }

  /// Records the end of a refresh. Returns the calls that wait for this refresh.
  mutating func finish(_ ticket: Ticket, _ outcome: Outcome, _ now: MonotonicInstant) -> [Waiter] {
    guard var entry = entries[ticket.subject], entry.number == ticket.refresh else { return [] }
    let waiting = entry.waiting.sorted { $0.key < $1.key }.map(\.value)
    entry.waiting = [:]
    // A refresh that failed temporarily is not counted. So it does not use up the `limit` of refreshes per account. A
    // cancelled refresh is counted, because the next refresh may start at once.
    if case .failure(let error) = outcome, error.mayHavePassed, !outcome.isCancel { _ = entry.begun.popLast() }
    // A cancelled refresh gives no information about the credential. The next call must start a new refresh instead of
    // failing at once. So the time of a cancelled refresh is recorded as if the refresh had ended long ago.
    entry.ended = (outcome, outcome.isCancel ? now.advanced(by: .zero - Self.memory) : now)
    entries[ticket.subject] = entry
    return waiting
  }
}

extension APIError {
  fileprivate var mayHavePassed: Bool { code == .refreshUnavailable }
}

extension Result<Credential, APIError> {
  fileprivate var isCancel: Bool {
    guard case .failure(let error) = self, let cause = error.cause else { return false }
    return cause is CancellationError || (cause as? APIError)?.isCancelled == true
  }
}

/// Identifies whose credential is refreshed: an account and the provider of its credential.
struct RefreshSubject: Sendable, Hashable {
  let account: ByteText?
  /// True if the credential provider is an instance of a class. Two objects can be distinguished by their identity; two
  /// values of one type cannot be distinguished.
  let isOfObject: Bool
  private let provider: ObjectIdentifier
  private let base: HTTPURL.Origin?

  /// - Parameters:
  ///   - account: The name of the account; nil if the provider has no account.
  ///   - provider: The provider. An instance of a class is identified by its object identity; a value is identified by
  ///     its type and the base URL.
  ///   - base: The origin of the base URL.
  init(_ account: String?, of provider: any CredentialProvider, at base: HTTPURL.Origin?) {
    self.account = account.map { ByteText($0) }
    isOfObject = type(of: provider) is AnyClass
    self.provider = isOfObject ? ObjectIdentifier(provider as AnyObject) : ObjectIdentifier(type(of: provider))
    self.base = isOfObject ? nil : base
  }
}
