import ErrandSupport

/// The refreshes of credentials that are running, the calls that wait for them, and the last results. The type only
/// decides; it has no side effects.
struct RefreshBook<Waiter: Sendable, Flight: Sendable>: Sendable {
  typealias Outcome = Result<Credential, APIError>

  /// What a call that needs a newer credential must do.
  enum Entrance {
    /// Use this credential, which is newer than the rejected one.
    case use(Credential)
    /// Fail with the error of the last refresh.
    case fail(APIError)
    /// Start a refresh, and wait for its end.
    case begin(Flight, Ticket)
    /// Wait for the end of a refresh that is under way.
    case wait(Flight, Ticket)
    /// Do not refresh: there were too many refreshes recently, or the running refresh may be for another provider.
    case refuse
  }

  /// Identifies a call that waits for a refresh.
  struct Ticket: Sendable, Hashable {
    fileprivate let subject: RefreshSubject
    fileprivate let flight: UInt64
    fileprivate let number: UInt64
  }

  private struct Entry: Sendable {
    let number: UInt64
    let old: Credential
    let flight: Flight
    var waiting: [UInt64: Waiter] = [:]
    var ended: (outcome: Outcome, moment: MonotonicInstant)?
    /// The moments at which recent refreshes started.
    var begun: [MonotonicInstant]
  }

  /// For this time after a failed refresh, calls with the same credential fail without another refresh.
  static var memory: Duration { .seconds(10) }
  /// For this time after a refresh that failed temporarily, calls with the same credential fail without another
  /// refresh.
  static var shortMemory: Duration { .seconds(1) }
  /// The largest number of refreshes of an account that start within `window`. The limit stops endless refreshing if a
  /// server accepts no credential.
  static var limit: Int { 5 }
  /// The period in which at most `limit` refreshes of an account start.
  static var window: Duration { .seconds(30) }
  private static var kept: Int { 100 }

  private var entries: [RefreshSubject: Entry] = [:]
  private var last: UInt64 = 0

  /// The number of accounts that are stored.
  var count: Int { entries.count }

  /// The number of calls that wait for a refresh.
  var waiting: Int { entries.values.reduce(0) { $0 + $1.waiting.count } }

  /// Decides what a call does that needs another credential than `old`.
  mutating func enter(
    _ subject: RefreshSubject, _ old: Credential, _ waiter: Waiter, _ now: MonotonicInstant, flight: () -> Flight
  ) -> Entrance {
    last &+= 1
    if var entry = entries[subject] {
      guard let ended = entry.ended else {
        // Two providers can be values of the same type; the credential of one must not go to the other.
        if !subject.isOfObject, entry.old != old { return .refuse }
        entry.waiting[last] = waiter
        entries[subject] = entry
        return .wait(entry.flight, Ticket(subject: subject, flight: entry.number, number: last))
      }
      if let known = known(ended, entry.old, old, now) { return known }
    }
    return begin(subject, old, waiter, now, flight())
  }

  /// What a later call does because of the result of the last refresh; nil if the result does not matter for this call.
  private func known(
    _ ended: (outcome: Outcome, moment: MonotonicInstant), _ refused: Credential, _ old: Credential,
    _ now: MonotonicInstant
  ) -> Entrance? {
    switch ended.outcome {
    case .success(let new): refused == old && new != old ? .use(new) : nil
    case .failure(let error):
      refused == old && ended.moment.duration(to: now) < (error.mayHavePassed ? Self.shortMemory : Self.memory)
        ? .fail(error) : nil
    }
  }

  private mutating func begin(
    _ subject: RefreshSubject, _ old: Credential, _ waiter: Waiter, _ now: MonotonicInstant, _ flight: Flight
  ) -> Entrance {
    let begun = (entries[subject]?.begun ?? []).filter { $0.duration(to: now) < Self.window }
    if begun.count >= Self.limit { return .refuse }
    if entries.count >= Self.kept { sweep(now) }
    let ticket = Ticket(subject: subject, flight: last, number: last)
    entries[subject] = Entry(
      number: last, old: old, flight: flight, waiting: [last: waiter], begun: begun + [now])
    return .begin(flight, ticket)
  }

  /// Removes accounts whose last refresh ended longer ago than `window`.
  private mutating func sweep(_ now: MonotonicInstant) {
    entries = entries.filter { _, entry in entry.ended.map { $0.moment.duration(to: now) < Self.window } ?? true }
  }

  /// Removes a waiting call. The refresh continues.
  mutating func leave(_ ticket: Ticket) {
    guard entries[ticket.subject]?.number == ticket.flight else { return }
    entries[ticket.subject]?.waiting[ticket.number] = nil
  }

  /// Removes all state of an account whose session has ended. Returns the refreshes under way and their waiting calls.
  mutating func end(_ account: String) -> [(flight: Flight, waiting: [Waiter])] {
    let ended = entries.filter { $0.key.account == ByteText(account) }
    for subject in ended.keys { entries[subject] = nil }
    return ended.values.filter { $0.ended == nil }.map { entry in
      (entry.flight, entry.waiting.sorted { $0.key < $1.key }.map(\.value))
    }
  }

  /// Records the end of a refresh. Returns the calls that wait for this refresh.
  mutating func land(_ ticket: Ticket, _ outcome: Outcome, _ now: MonotonicInstant) -> [Waiter] {
    guard var entry = entries[ticket.subject], entry.number == ticket.flight else { return [] }
    let waiting = entry.waiting.sorted { $0.key < $1.key }.map(\.value)
    entry.waiting = [:]
    // A refresh that failed temporarily does not count towards the limit.
    if case .failure(let error) = outcome, error.mayHavePassed { _ = entry.begun.popLast() }
    // A cancelled refresh says nothing about the credential: the next call tries again.
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

/// The owner of a refreshed credential: an account of a provider.
struct RefreshSubject: Sendable, Hashable {
  let account: ByteText?
  /// True if the provider is an object. Two objects can be distinguished, two values of one type cannot.
  let isOfObject: Bool
  private let provider: ObjectIdentifier
  private let base: HTTPURL.Origin?

  /// - Parameters:
  ///   - account: The account; nil if the provider has none.
  ///   - provider: The provider. If it is an object, it is identified by the object. If it is a value, it is identified
  ///     by its type and the base URL.
  ///   - base: The origin of the base URL.
  init(_ account: String?, of provider: any CredentialProvider, at base: HTTPURL.Origin?) {
    self.account = account.map { ByteText($0) }
    isOfObject = type(of: provider) is AnyClass
    self.provider = isOfObject ? ObjectIdentifier(provider as AnyObject) : ObjectIdentifier(type(of: provider))
    self.base = isOfObject ? nil : base
  }
}
