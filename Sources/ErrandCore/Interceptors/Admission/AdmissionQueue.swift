/// Decides which calls are admitted and which wait: a state machine without I/O and without a clock.
///
/// A call needs a *slot*, which is the permission to run one exchange. If its host has a rate limit, the call also
/// needs a *token* of the rate limit. A call is admitted at once if a slot and a token are free and no other call waits
/// for the same host. ``WaitingQueue`` selects the waiting call that gets a free slot. ``wake(at:_:)`` returns the
/// moment of the next token if waiting calls lack only a token.
struct AdmissionQueue<Waiter: Sendable>: Sendable {
  /// The slot of an admitted call: the permission to run one exchange with the host.
  struct Slot: Sendable, Hashable {
    let host: Int
    /// Whether the response headers of the exchange have arrived and ``countAnswered(_:)`` was called.
    var isAnswered = false
  }

  struct Ticket: Sendable, Hashable {
    let host: Int
    fileprivate let place: WaitingQueue<Waiter>.Place
  }

  /// The answer to a call that asks for a slot: the call gets a slot, waits in the queue, or is rejected because the
  /// queue is full.
  enum Entrance: Sendable {
    case admitted(Slot)
    case waits(Ticket)
    case full
  }

  /// A waiting call that gets a slot, and this slot. If the call has already stopped waiting, the receiver of this
  /// value must release the slot as unused.
  struct Admission: Sendable {
    let waiter: Waiter
    let slot: Slot
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

  var waiting: Int { waitingCalls.count }

  var placesInUse: Int { hosts.all.count }

  /// The numbers of running exchanges and of waiting calls at the origins of a host.
  func counts(at host: String) -> (running: Int, waiting: Int) {
    hosts.all.reduce(into: (0, 0)) { counts, place in
      guard let found = hosts.list[place], found.origin.host == host else { return }
      counts.0 += found.running
      counts.1 += waitingCalls.count(at: place)
    }
  }

  // MARK: - Entering

  /// Takes a slot for an exchange if a slot is free and no call waits for the same host. If `now` is nil, the method
  /// succeeds only if no host has a rate limit.
  mutating func tryEnter(_ origin: HTTPURL.Origin, _ now: MonotonicInstant? = nil) -> Slot? {
    guard running < limits.total, now != nil || limits.rates.isEmpty else { return nil }
    let host = place(of: origin, now)
    guard hasSlot(host), waitingCalls.count(at: host) == 0 else { return nil }
    return takeSlot(at: host, now)
  }

  /// Takes a slot for an exchange if a slot is free. Otherwise adds the call to the queue, unless the queue is full.
  mutating func enter(
    _ origin: HTTPURL.Origin, owner: UInt64?, _ priority: CallPriority, _ waiter: Waiter, _ now: MonotonicInstant
  ) -> Entrance {
    if let slot = tryEnter(origin, now) { return .admitted(slot) }
    guard waitingCalls.count < limits.waiting else { return .full }
    let host = place(of: origin, now)
    let place = waitingCalls.add(waiter, host: host, owner: owner, priority, now)
    return .waits(Ticket(host: host, place: place))
  }

  /// Reserves the next token of a host's rate limit for the caller. Returns the moment at which the token is available;
  /// nil if the token is available now.
  mutating func reserveToken(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> MonotonicInstant? {
    let host = place(of: origin, now)
    guard let bucket = hosts.list[host]?.bucket else { return nil }
    hosts.list[host]?.bucket?.reserve(now)
    return bucket.hasToken(now) ? nil : bucket.next
  }

  /// Puts a reserved token back into the rate limit of a host, because the token was not used. Returns the host; nil if
  /// it is not stored.
  @discardableResult
  mutating func giveBackToken(_ origin: HTTPURL.Origin) -> Int? {
    guard let host = hosts.place(of: origin) else { return nil }
    hosts.list[host]?.bucket?.giveBackReserved()
    return host
  }

  /// The answer to a call that has reserved a token of the rate limit and asks for a slot. The call gets a slot, or
  /// must wait because the host has asked for a pause.
  enum ReservedEntrance: Sendable {
    case admitted(Slot)
    /// The call gets no slot now, because the host accepts no requests before the given moment.
    case closed(MonotonicInstant)
  }

  /// Takes a slot for an exchange, even if no slot is free. The caller must have reserved a token of the rate limit.
  mutating func enterBeyond(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> ReservedEntrance {
    let host = place(of: origin, now)
    if let moment = hosts.list[host]?.bucket?.closed(now) { return .closed(moment) }
    hosts.list[host]?.bucket?.takeReserved(now)
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

  /// Releases the slot of an exchange if no call waits. If a call waits, does nothing and returns false.
  mutating func releaseUnlessWaited(_ slot: Slot) -> Bool {
    guard waitingCalls.count == 0 else { return false }
    giveBack(slot)
    return true
  }

  /// Releases the slot of an exchange. Returns the waiting call that gets the slot; nil if no waiting call can use the
  /// slot.
  ///
  /// - Parameter isUnused: True if no request was sent with the slot. In this case the token that was taken from the
  ///   rate limit is put back, too.
  mutating func release(_ slot: Slot, isUnused: Bool = false, _ now: MonotonicInstant) -> Admission? {
    let heldOthersBack = running >= limits.total
    giveBack(slot)
    if isUnused { hosts.list[slot.host]?.bucket?.giveBack() }
    return heldOthersBack ? admitNext(now) : admitNext(at: slot.host, now)
  }

  private mutating func giveBack(_ slot: Slot) {
    running = max(running - 1, 0)
    hosts.list[slot.host]?.running -= 1
    if slot.isAnswered { hosts.list[slot.host]?.answered -= 1 }
    hosts.list[slot.host]?.bucket?.endExchange()
  }

  /// Admits the next waiting call among all hosts that have a free slot for an exchange and a token of their rate
  /// limit.
  mutating func admitNext(_ now: MonotonicInstant) -> Admission? {
    guard waitingCalls.count > 0, running < limits.total else { return nil }
    waitingCalls.age(now)
    open.removeAll(keepingCapacity: true)
    for host in waitingCalls.hosts where hasSlot(host) && hasToken(host, now) { open.append(host) }
    guard let next = waitingCalls.takeNext(among: open), let slot = takeSlot(at: next.host, now) else { return nil }
    return Admission(waiter: next.waiter, slot: slot)
  }

  /// Admits the next waiting call of one host if a slot for an exchange and a token of the rate limit are free.
  mutating func admitNext(at host: Int, _ now: MonotonicInstant) -> Admission? {
    guard waitingCalls.count > 0, running < limits.total, hasSlot(host), hasToken(host, now) else { return nil }
    waitingCalls.age(now)
    guard let waiter = waitingCalls.takeNext(at: host), let slot = takeSlot(at: host, now) else { return nil }
    return Admission(waiter: waiter, slot: slot)
  }

  /// The reason why a call to an origin cannot get a slot now. It tests the same conditions as ``tryEnter(_:_:)``.
  ///
  /// - Parameter holders: Returns the numbers of the calls that hold slots of the host, or all slots if the argument is
  ///   nil.
  func shortage(
    at origin: HTTPURL.Origin, _ now: MonotonicInstant, holders: (Slot?) -> [UInt64]
  ) -> CallDecision.AdmissionShortage {
    if running >= limits.total { return .total(taken: running, of: limits.total, by: holders(nil)) }
    guard let host = hosts.place(of: origin) else { return .queue(origin, ahead: 0) }
    if !hasSlot(host) {
      let taken = hosts.list[host]?.running ?? 0
      return .host(origin, taken: taken, of: limits.perHost, by: holders(Slot(host: host)))
    }
    return hasToken(host, now) ? .queue(origin, ahead: waitingCalls.count(at: host)) : .rate(origin)
  }

  private func hasSlot(_ host: Int) -> Bool { (hosts.list[host]?.running ?? 0) < limits.perHost }

  private func hasToken(_ host: Int, _ now: MonotonicInstant) -> Bool {
    hosts.list[host]?.bucket?.hasToken(now) ?? true
  }

  /// Takes a slot for an exchange and a token of the rate limit. A slot must be free. Returns nil if no token is
  /// available.
  private mutating func takeSlot(at host: Int, _ now: MonotonicInstant?) -> Slot? {
    if let bucket = hosts.list[host]?.bucket {
      guard let now, bucket.hasToken(now) else { return nil }
      hosts.list[host]?.bucket?.take(now)
    }
    return take(at: host)
  }

  private mutating func take(at host: Int) -> Slot {
    running += 1
    hosts.list[host]?.running += 1
    return Slot(host: host)
  }

  // MARK: - Rates and limits

  /// The moment at which the next token of a host's rate limit is available. The moment is in the past if a token is
  /// already available. Nil if the caller needs no timer for the token. That is the case if no call waits for the host,
  /// or if the host has no rate limit. That is also the case if another exchange must end before a waiting call can get
  /// a slot.
  func wake(at host: Int, _ now: MonotonicInstant) -> MonotonicInstant? {
    guard waitingCalls.count(at: host) > 0, hasSlot(host), let bucket = hosts.list[host]?.bucket else { return nil }
    // A token of the rate limit is available, but all slots for exchanges are taken. The next slot that is released is
    // offered to all hosts that have a token, so no timer is needed.
    if bucket.hasToken(now), running >= limits.total { return nil }
    return bucket.next
  }

  var waitedFor: [Int] { waitingCalls.hosts }

  func followsServer(_ slot: Slot) -> Bool? { hosts.list[slot.host]?.bucket?.followsServer }

  /// Changes the rate of a host as the response to the exchange of a slot asks. The response headers arrived at the
  /// moment `arrival`.
  mutating func learn(_ pace: ServerPace, _ slot: Slot, since arrival: MonotonicInstant) {
    let unanswered = (hosts.list[slot.host]?.unanswered ?? 0) - 1
    hosts.list[slot.host]?.bucket?.learn(pace, unanswered: unanswered, since: arrival)
  }

  /// Records that the response headers of the exchange of a slot have arrived, although the exchange continues.
  mutating func countAnswered(_ slot: Slot) { hosts.list[slot.host]?.answered += 1 }

  /// Changes the limits. The caller then calls ``admitNext(_:)`` to admit the waiting calls that the new limits allow.
  mutating func change(_ limits: AdmissionLimits, _ now: MonotonicInstant) {
    let hasNewRates = limits.rates != self.limits.rates
    self.limits = limits
    waitingCalls.change(ageing: limits.ageing, now)
    if hasNewRates { hosts.setRates(now) { limits.rate(of: $0) } }
  }
}
