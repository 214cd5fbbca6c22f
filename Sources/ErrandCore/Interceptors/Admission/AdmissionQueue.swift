/// Decides which calls are admitted and which wait: a state machine without I/O and without a clock.
///
/// A call needs a *slot*, which is the permission to run one exchange. If its host has a rate limit, the call also
/// needs a *token*. It is admitted at once if both are free and no other call waits for the same host. ``WaitingQueue``
/// selects the waiting call that gets a free slot. ``wake(at:_:)`` returns the moment of the next token if waiting
/// calls lack only a token.
struct AdmissionQueue<Waiter: Sendable>: Sendable {
  /// The slot of an admitted call.
  struct Pass: Sendable, Hashable {
    let host: Int
  }

  /// The place of a waiting call in the queue.
  struct Ticket: Sendable, Hashable {
    let host: Int
    fileprivate let place: WaitingQueue<Waiter>.Place
  }

  /// The result of entering the queue.
  enum Entrance: Sendable {
    case admitted(Pass)
    case waits(Ticket)
    case full
  }

  /// A waiting call that is admitted now. If the call has left the queue, its slot is released as unused.
  struct Grant: Sendable {
    let waiter: Waiter
    let pass: Pass
  }

  private(set) var limits: AdmissionLimits
  private(set) var running = 0
  private var hosts = AdmissionHosts()
  private var waitingCalls: WaitingQueue<Waiter>
  private var open: [Int] = []

  init(limits: AdmissionLimits) {
    self.limits = limits
    waitingCalls = WaitingQueue(ageing: limits.ageing)
  }

  /// The number of waiting calls.
  var waiting: Int { waitingCalls.count }

  /// The number of known origins.
  var placesInUse: Int { hosts.all.count }

  /// The numbers of running exchanges and of waiting calls at the origins of a host.
  func counts(at host: String) -> (running: Int, waiting: Int) {
    hosts.all.reduce(into: (0, 0)) { counts, place in
      guard let found = hosts[place], found.origin.host == host else { return }
      counts.0 += found.running
      counts.1 += waitingCalls.count(at: place)
    }
  }

  // MARK: - Entering

  /// Takes a slot if one is free and no call waits for the same host. Without `now` this succeeds only if no host has a
  /// rate limit.
  mutating func tryEnter(_ origin: HTTPURL.Origin, _ now: MonotonicInstant? = nil) -> Pass? {
    guard running < limits.total, now != nil || limits.rates.isEmpty else { return nil }
    let host = place(of: origin, now)
    guard hasRoom(host), waitingCalls.count(at: host) == 0 else { return nil }
    return takeSlot(at: host, now)
  }

  /// Takes a slot, or enters the queue.
  mutating func enter(
    _ origin: HTTPURL.Origin, owner: UInt64?, _ priority: CallPriority, _ waiter: Waiter, _ now: MonotonicInstant
  ) -> Entrance {
    if let pass = tryEnter(origin, now) { return .admitted(pass) }
    guard waitingCalls.count < limits.waiting else { return .full }
    let host = place(of: origin, now)
    let place = waitingCalls.add(waiter, host: host, owner: owner, priority, now)
    return .waits(Ticket(host: host, place: place))
  }

  /// Reserves the next token of a host for the caller. Returns the moment at which it is available; nil if it is
  /// available now.
  mutating func reserveToken(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> MonotonicInstant? {
    let host = place(of: origin, now)
    guard let bucket = hosts.bucket(at: host) else { return nil }
    hosts.change(at: host) { $0.take(now) }
    return bucket.hasToken(now) ? nil : bucket.next
  }

  /// Returns a reserved token that was not used.
  mutating func giveBackToken(_ origin: HTTPURL.Origin) {
    if let host = hosts.place(of: origin) { hosts.change(at: host) { $0.giveBack() } }
  }

  /// The result of taking a slot with a reserved token, even if no slot is free.
  enum ReservedEntrance: Sendable {
    case admitted(Pass)
    /// The host accepts no requests before this moment.
    case closed(MonotonicInstant)
  }

  /// Takes a slot with a reserved token, even if no slot is free.
  mutating func enterBeyond(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> ReservedEntrance {
    let host = place(of: origin, now)
    if let moment = hosts.bucket(at: host)?.closed(now) { return .closed(moment) }
    return .admitted(take(at: host))
  }

  private mutating func place(of origin: HTTPURL.Origin, _ now: MonotonicInstant?) -> Int {
    if let known = hosts.place(of: origin) { return known }
    return hosts.make(origin, limits.rate(of: origin.host), now) { [waitingCalls] in waitingCalls.count(at: $0) > 0 }
  }

  // MARK: - Waiting

  /// Removes a waiting call. Returns false if the call has already been admitted.
  @discardableResult
  mutating func leave(_ ticket: Ticket) -> Bool { waitingCalls.leave(ticket.place) }

  /// Changes the priority of a waiting call. Does nothing if the call no longer waits.
  mutating func change(_ ticket: Ticket, to priority: CallPriority, _ now: MonotonicInstant) {
    waitingCalls.change(ticket.place, to: priority, now)
  }

  // MARK: - Leaving

  /// Releases a slot if no call waits. Otherwise does nothing and returns false.
  mutating func releaseUnlessWaited(_ pass: Pass) -> Bool {
    guard waitingCalls.count == 0 else { return false }
    giveBack(pass)
    return true
  }

  /// Releases a slot. Returns the waiting call that gets the slot; nil if there is none.
  ///
  /// - Parameter isUnused: True if no request was sent with the slot. Then the token of the call is returned, too.
  mutating func release(_ pass: Pass, isUnused: Bool = false, _ now: MonotonicInstant) -> Grant? {
    let heldOthersBack = running >= limits.total
    giveBack(pass)
    if isUnused { hosts.change(at: pass.host) { $0.giveBack() } }
    return heldOthersBack ? admitNext(now) : admitNext(at: pass.host, now)
  }

  private mutating func giveBack(_ pass: Pass) {
    running = max(running - 1, 0)
    hosts.run(at: pass.host, -1)
  }

  /// Admits the next waiting call of all hosts that have a free slot and a token.
  mutating func admitNext(_ now: MonotonicInstant) -> Grant? {
    guard waitingCalls.count > 0, running < limits.total else { return nil }
    waitingCalls.age(now)
    open.removeAll(keepingCapacity: true)
    for host in waitingCalls.hosts where hasRoom(host) && hasToken(host, now) { open.append(host) }
    guard let next = waitingCalls.takeNext(among: open), let pass = takeSlot(at: next.host, now) else { return nil }
    return Grant(waiter: next.waiter, pass: pass)
  }

  /// Admits the next waiting call of one host if a slot and a token are free.
  mutating func admitNext(at host: Int, _ now: MonotonicInstant) -> Grant? {
    guard waitingCalls.count > 0, running < limits.total, hasRoom(host), hasToken(host, now) else { return nil }
    waitingCalls.age(now)
    guard let waiter = waitingCalls.takeNext(at: host), let pass = takeSlot(at: host, now) else { return nil }
    return Grant(waiter: waiter, pass: pass)
  }

  private func hasRoom(_ host: Int) -> Bool { hosts.running(at: host) < limits.perHost }

  private func hasToken(_ host: Int, _ now: MonotonicInstant) -> Bool { hosts.bucket(at: host)?.hasToken(now) ?? true }

  /// Takes a token and a slot. The slot must be free. Returns nil if there is no token.
  private mutating func takeSlot(at host: Int, _ now: MonotonicInstant?) -> Pass? {
    if let bucket = hosts.bucket(at: host) {
      guard let now, bucket.hasToken(now) else { return nil }
      hosts.change(at: host) { $0.take(now) }
    }
    return take(at: host)
  }

  private mutating func take(at host: Int) -> Pass {
    running += 1
    hosts.run(at: host, 1)
    return Pass(host: host)
  }

  // MARK: - Rates and limits

  /// The moment of the next token of a host; nil unless a token is all that the waiting calls of the host lack. The
  /// moment is in the past if the token is already available.
  func wake(at host: Int, _ now: MonotonicInstant) -> MonotonicInstant? {
    guard waitingCalls.count(at: host) > 0, hasRoom(host), let bucket = hosts.bucket(at: host) else { return nil }
    // All slots are taken. When the next one is released, it is offered to all hosts that have a token, so no timer is
    // needed.
    if bucket.hasToken(now), running >= limits.total { return nil }
    return bucket.next
  }

  /// The hosts that have waiting calls.
  var waitedFor: [Int] { waitingCalls.hosts }

  /// Whether the host of a slot has a rate limit.
  func isRated(_ pass: Pass) -> Bool { hosts.bucket(at: pass.host) != nil }

  /// Admits no request to the host of a slot before a moment. At that moment the host has no tokens.
  mutating func close(_ pass: Pass, until moment: MonotonicInstant) {
    hosts.change(at: pass.host) { $0.close(until: moment) }
  }

  /// Changes the limits. ``admitNext(_:)`` admits the waiting calls that the new limits allow.
  mutating func change(_ limits: AdmissionLimits, _ now: MonotonicInstant) {
    let hasNewRates = limits.rates != self.limits.rates
    self.limits = limits
    waitingCalls.change(ageing: limits.ageing, now)
    if hasNewRates { hosts.setRates(now) { limits.rate(of: $0) } }
  }
}
