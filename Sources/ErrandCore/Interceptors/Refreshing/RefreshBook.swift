import ErrandSupport

/// Which accounts are being refreshed, who waits, and how it went last. Decides, and performs nothing.
struct RefreshBook<Waiter: Sendable, Flight: Sendable>: Sendable {
  typealias Outcome = Result<Credential, APIError>

  /// What one who needs a newer credential has to do.
  enum Entrance {
    /// Take this one: it came after the old one.
    case use(Credential)
    /// Fail like those before.
    case fail(APIError)
    /// Refresh, and wait for the end of it.
    case begin(Flight, Ticket)
    /// Wait for the end of what others have begun.
    case wait(Flight, Ticket)
    /// Nothing: there were too many of late, or what is under way may be another one's.
    case refuse
  }

  /// A place among those who wait.
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
    /// When refreshing began, of late.
    var begun: [MonotonicInstant]
  }

  /// How long a failure stands for those who come with the same credential.
  static var memory: Duration { .seconds(10) }
  /// The same for one that may have passed by then.
  static var shortMemory: Duration { .seconds(1) }
  /// How often an account is refreshed within a window: a server that takes no credential must not be asked for ever.
  static var limit: Int { 5 }
  /// The window.
  static var window: Duration { .seconds(30) }
  private static var kept: Int { 100 }

  private var entries: [RefreshSubject: Entry] = [:]
  private var last: UInt64 = 0

  /// How many accounts are remembered.
  var count: Int { entries.count }

  /// How many wait for the end of what is under way.
  var waiting: Int { entries.values.reduce(0) { $0 + $1.waiting.count } }

  /// Somebody needs another credential than `old`.
  mutating func enter(
    _ subject: RefreshSubject, _ old: Credential, _ waiter: Waiter, _ now: MonotonicInstant, flight: () -> Flight
  ) -> Entrance {
    last &+= 1
    if var entry = entries[subject] {
      guard let ended = entry.ended else {
        // Values of one type can be two providers, and what comes of the one is not the other's.
        if !subject.isOfObject, entry.old != old { return .refuse }
        entry.waiting[last] = waiter
        entries[subject] = entry
        return .wait(entry.flight, Ticket(subject: subject, flight: entry.number, number: last))
      }
      if let known = known(ended, entry.old, old, now) { return known }
    }
    return begin(subject, old, waiter, now, flight())
  }

  /// What the last end means for one who comes after it; nil where it means nothing.
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

  /// Forgets accounts of which nothing has to be known any more.
  private mutating func sweep(_ now: MonotonicInstant) {
    entries = entries.filter { _, entry in entry.ended.map { $0.moment.duration(to: now) < Self.window } ?? true }
  }

  /// One who waited has gone. What was begun goes on.
  mutating func leave(_ ticket: Ticket) {
    guard entries[ticket.subject]?.number == ticket.flight else { return }
    entries[ticket.subject]?.waiting[ticket.number] = nil
  }

  /// The account's session has ended: nothing is known of it any more. Returns what was under way, and those who wait.
  mutating func end(_ account: String) -> [(flight: Flight, waiting: [Waiter])] {
    let ended = entries.filter { $0.key.account == ByteText(account) }
    for subject in ended.keys { entries[subject] = nil }
    return ended.values.filter { $0.ended == nil }.map { entry in
      (entry.flight, entry.waiting.sorted { $0.key < $1.key }.map(\.value))
    }
  }

  /// Refreshing has ended; returns those who wait for it.
  mutating func land(_ ticket: Ticket, _ outcome: Outcome, _ now: MonotonicInstant) -> [Waiter] {
    guard var entry = entries[ticket.subject], entry.number == ticket.flight else { return [] }
    let waiting = entry.waiting.sorted { $0.key < $1.key }.map(\.value)
    entry.waiting = [:]
    // What nobody has answered asked no server too often.
    if case .failure(let error) = outcome, error.mayHavePassed { _ = entry.begun.popLast() }
    // One that was cancelled says nothing of the credential: who comes next tries.
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

/// Whose credential is refreshed: an account of a provider.
struct RefreshSubject: Sendable, Hashable {
  let account: ByteText?
  /// Whether the provider is an object, of which there are no two.
  let isOfObject: Bool
  private let provider: ObjectIdentifier
  private let base: HTTPURL.Origin?

  /// - Parameters:
  ///   - account: The account; nil where the provider knows none.
  ///   - provider: An object is told from others by itself, a value by its type and the base URL.
  ///   - base: The origin of the base URL.
  init(_ account: String?, of provider: any CredentialProvider, at base: HTTPURL.Origin?) {
    self.account = account.map { ByteText($0) }
    isOfObject = type(of: provider) is AnyClass
    self.provider = isOfObject ? ObjectIdentifier(provider as AnyObject) : ObjectIdentifier(type(of: provider))
    self.base = isOfObject ? nil : base
  }
}
