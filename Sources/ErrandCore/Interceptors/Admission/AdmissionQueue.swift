/// Who may go on and who waits: a state machine without I/O and without a clock.
///
/// Whoever has room and a token goes on, unless others wait for the same. Whom a free slot goes to, ``WaitingLine`` says.
/// Where waiters lack nothing but a token, ``wake(at:_:)`` says when there will be one.
struct AdmissionQueue<Waiter: Sendable>: Sendable {
  /// A slot, held by one who was let in.
  struct Pass: Sendable, Hashable {
    let host: Int
  }

  /// A place in the queue.
  struct Ticket: Sendable, Hashable {
    let host: Int
    fileprivate let place: WaitingLine<Waiter>.Place
  }

  /// What becomes of one who comes.
  enum Entrance: Sendable {
    case admitted(Pass)
    case waits(Ticket)
    case full
  }

  /// One who is let in now. Where it refuses, its pass is released as unused.
  struct Grant: Sendable {
    let waiter: Waiter
    let pass: Pass
  }

  private(set) var limits: AdmissionLimits
  private(set) var running = 0
  private var hosts = AdmissionHosts()
  private var line: WaitingLine<Waiter>
  private var open: [Int] = []

  init(limits: AdmissionLimits) {
    self.limits = limits
    line = WaitingLine(ageing: limits.ageing)
  }

  /// How many wait.
  var waiting: Int { line.count }

  /// How many origins are remembered.
  var placesInUse: Int { hosts.all.count }

  /// The exchanges that run and the calls that wait at the origins of a host.
  func counts(at host: String) -> (running: Int, waiting: Int) {
    hosts.all.reduce(into: (0, 0)) { counts, place in
      guard let found = hosts[place], found.origin.host == host else { return }
      counts.0 += found.running
      counts.1 += line.count(at: place)
    }
  }

  // MARK: - Coming

  /// Takes a slot if one is free; without a moment, only where the host has no rate.
  mutating func tryEnter(_ origin: HTTPURL.Origin, _ now: MonotonicInstant? = nil) -> Pass? {
    guard running < limits.total, now != nil || limits.rates.isEmpty else { return nil }
    let host = place(of: origin, now)
    guard hasRoom(host), line.count(at: host) == 0 else { return nil }
    return takeSlot(at: host, now)
  }

  /// Takes a slot, or a place in the queue.
  mutating func enter(
    _ origin: HTTPURL.Origin, owner: UInt64?, _ priority: CallPriority, _ waiter: Waiter, _ now: MonotonicInstant
  ) -> Entrance {
    if let pass = tryEnter(origin, now) { return .admitted(pass) }
    guard line.count < limits.waiting else { return .full }
    let host = place(of: origin, now)
    let place = line.add(waiter, host: host, owner: owner, priority, now)
    return .waits(Ticket(host: host, place: place))
  }

  /// Takes the next token of a host, which nobody else gets then. Returns when it will be there; nil where it is.
  mutating func reserveToken(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> MonotonicInstant? {
    let host = place(of: origin, now)
    guard let bucket = hosts.bucket(at: host) else { return nil }
    hosts.change(at: host) { $0.take(now) }
    return bucket.hasToken(now) ? nil : bucket.next
  }

  /// Gives a token back that was reserved and not used.
  mutating func giveBackToken(_ origin: HTTPURL.Origin) {
    if let host = hosts.place(of: origin) { hosts.change(at: host) { $0.giveBack() } }
  }

  /// What becomes of one who has a token and must not wait for a slot.
  enum EntranceBeyond: Sendable {
    case admitted(Pass)
    /// The host wants nobody before this moment.
    case closed(MonotonicInstant)
  }

  /// Takes a slot, also where none is free, with a token that was reserved.
  mutating func enterBeyond(_ origin: HTTPURL.Origin, _ now: MonotonicInstant) -> EntranceBeyond {
    let host = place(of: origin, now)
    if let moment = hosts.bucket(at: host)?.closed(now) { return .closed(moment) }
    return .admitted(take(at: host))
  }

  private mutating func place(of origin: HTTPURL.Origin, _ now: MonotonicInstant?) -> Int {
    if let known = hosts.place(of: origin) { return known }
    return hosts.make(origin, limits.rate(of: origin.host), now) { [line] in line.count(at: $0) > 0 }
  }

  // MARK: - Waiting

  /// Gives a place in the queue back. False when the waiter was let in before.
  @discardableResult
  mutating func leave(_ ticket: Ticket) -> Bool { line.leave(ticket.place) }

  /// Changes the priority of one who waits; no effect on one who does not.
  mutating func change(_ ticket: Ticket, to priority: CallPriority, _ now: MonotonicInstant) {
    line.change(ticket.place, to: priority, now)
  }

  // MARK: - Going

  /// Gives a slot back that nobody waits for. False, with nothing done, where somebody waits.
  mutating func releaseUnlessWaited(_ pass: Pass) -> Bool {
    guard line.count == 0 else { return false }
    giveBack(pass)
    return true
  }

  /// Gives a slot back. Returns the waiter that has it now.
  ///
  /// - Parameter isUnused: Whether nothing was asked with it: its token goes back too.
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

  /// Lets in whoever comes next, wherever there is room.
  mutating func admitNext(_ now: MonotonicInstant) -> Grant? {
    guard line.count > 0, running < limits.total else { return nil }
    line.age(now)
    open.removeAll(keepingCapacity: true)
    for host in line.hosts where hasRoom(host) && hasToken(host, now) { open.append(host) }
    guard let next = line.takeNext(among: open), let pass = takeSlot(at: next.host, now) else { return nil }
    return Grant(waiter: next.waiter, pass: pass)
  }

  /// Lets in whoever comes next at a host, if there is room.
  mutating func admitNext(at host: Int, _ now: MonotonicInstant) -> Grant? {
    guard line.count > 0, running < limits.total, hasRoom(host), hasToken(host, now) else { return nil }
    line.age(now)
    guard let waiter = line.takeNext(at: host), let pass = takeSlot(at: host, now) else { return nil }
    return Grant(waiter: waiter, pass: pass)
  }

  private func hasRoom(_ host: Int) -> Bool { hosts.running(at: host) < limits.perHost }

  private func hasToken(_ host: Int, _ now: MonotonicInstant) -> Bool { hosts.bucket(at: host)?.hasToken(now) ?? true }

  /// Takes a slot where there is room; nil where there is no token.
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

  /// When the waiters of a host, who have room, will have a token; nil where they wait for something else. A moment that
  /// has passed where the token came after they were told to wait.
  func wake(at host: Int, _ now: MonotonicInstant) -> MonotonicInstant? {
    guard line.count(at: host) > 0, hasRoom(host), let bucket = hosts.bucket(at: host) else { return nil }
    // Whoever frees a slot looks at all that have a token.
    if bucket.hasToken(now), running >= limits.total { return nil }
    return bucket.next
  }

  /// The hosts where somebody waits.
  var waitedFor: [Int] { line.hosts }

  /// Whether the host of a pass has a rate.
  func isRated(_ pass: Pass) -> Bool { hosts.bucket(at: pass.host) != nil }

  /// Lets nobody ask the host of a pass before a moment; from then on its bucket fills from nothing.
  mutating func close(_ pass: Pass, until moment: MonotonicInstant) {
    hosts.change(at: pass.host) { $0.close(until: moment) }
  }

  /// Changes the limits. Whoever may go on by them is let in by ``admitNext(_:)``.
  mutating func change(_ limits: AdmissionLimits, _ now: MonotonicInstant) {
    let hasNewRates = limits.rates != self.limits.rates
    self.limits = limits
    line.change(ageing: limits.ageing, now)
    if hasNewRates { hosts.setRates(now) { limits.rate(of: $0) } }
  }
}
