import ErrandSupport
public import ErrandCache
public import ErrandCore
import Foundation

/// Keeps entries in Redis, so that several servers share one cache.
///
/// ```swift
/// let store = RedisStore(host: "10.0.0.5")
/// configuration.cache = .own(ResponseCache(store: store))
/// ```
///
/// Redis is the only truth: what one server stores, renews or removes, all others find, renewed or missing at once.
/// Each change is one script in Redis, so nobody sees a half of it. One thread of the store's own talks to Redis over
/// one connection, in order: a look-up sees what this process put before. No call waits for it longer than its patience,
/// its deadline and its cancel allow.
///
/// Where Redis cannot be reached, every look-up is ``ErrandCache/CacheLookup/unavailable`` at once, and nothing is stored; the
/// store tries again after a tenth of a second at most, then twice that, up to five seconds. Removals are kept and carried out
/// before anything is read again. What was being written when a connection broke is dropped, together with what it
/// would have replaced. All of that costs hits and never a call.
///
/// Entries that no disk may have stay out of Redis. Bodies, URLs with masked queries and response fields lie in Redis as
/// they are: whoever can read it reads them. Names of keys are digests. It needs a Redis of version 6 or later that
/// is not a cluster, and the right to write (no replica).
///
/// | operation | cost for Redis |
/// |---|---|
/// | find, put, renew, remove a key or a variant, `holdsForOthers` | some dozens of look-ups in hashes and sets, one round trip; a second one where another variant than the newest is chosen |
/// | remove by target, account, host, tag | one rename; deleting in the background, a hundred answers a step |
/// | remove all, or what is older | one write; deleting in the background by a walk over all keys of the database |
/// | list, size | a walk over all keys of the database, a hundred a step |
/// | memory beside head and body | about a KiB an entry |
public final class RedisStore: CacheStore {
  /// How long the first call waits for the salt at the most.
  private static let saltPatience = Duration.milliseconds(250)
  private static let mostUses = 256

  private let settings: RedisSettings
  private let layout: RedisLayout
  private let mailbox: RedisMailbox
  private let uses = Locked<[RedisUse: WallTime]>([:])

  /// Makes a store in a Redis that listens on TCP; connects at the first use.
  ///
  /// - Parameters:
  ///   - host: A name or an address.
  ///   - port: The port.
  ///   - settings: How to use it.
  public convenience init(host: String, port: Int = 6_379, settings: RedisSettings = RedisSettings()) {
    self.init(.tcp(host: host, port: port), settings)
  }

  /// Makes a store in a Redis that listens on a Unix socket; connects at the first use.
  ///
  /// - Parameters:
  ///   - socket: The path of the socket.
  ///   - settings: How to use it.
  public convenience init(socket: String, settings: RedisSettings = RedisSettings()) {
    self.init(.unix(path: socket), settings)
  }

  private init(_ address: RedisAddress, _ settings: RedisSettings) {
    let layout = RedisLayout(prefix: settings.prefix, span: settings.span)
    self.settings = settings
    self.layout = layout
    mailbox = RedisMailbox(limits: settings.limits) { mailbox, pipe in
      RedisLoop(settings: settings, address: address, layout: layout, mailbox: mailbox, pipe: pipe).run()
    }
  }

  deinit {
    writeUses()
    mailbox.close()
  }

  /// 32 random bytes that lie in Redis, one for all who share it.
  ///
  /// Waits a quarter of a second at the most. Nil where Redis did not answer.
  public func salt(call: CallState, patience: Duration?) async -> Digest? {
    if let salt = layout.salt { return salt }
    let until = call.timers.now.advanced(by: min(patience ?? Self.saltPatience, Self.saltPatience))
    return await ask(layout.call(.salt), call, until: until)?.salt
  }

  /// Looks for an entry. `choosing` runs on the caller's thread.
  public func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let until = patience.map { call.timers.now.advanced(by: $0) }
    for _ in 0..<3 {
      let question = layout.call(.find, [key.entry.hex])
      guard let reply = await ask(question, call, until: until) else { return .unavailable }
      guard let found = RedisFound(reply, key) else { return Self.nothing(reply) }
      for head in found.damaged { drop(key, head.variant, head.bytes) }
      let heads = found.candidates.map(\.head)
      guard !heads.isEmpty else { return .damaged }
      guard let choice = choosing(heads), heads.indices.contains(choice) else { return .refused(heads) }
      if let lookup = await take(found.candidates[choice], of: found, key, call, until) { return lookup }
    }
    return .unavailable
  }

  /// Whether the same request has a stored response that belongs to others.
  public func holdsForOthers(_ key: CacheKey, call: CallState, patience: Duration?) async -> Bool {
    let until = patience.map { call.timers.now.advanced(by: $0) }
    let question = layout.call(.holds, [RedisIndex(.anyAccount, key.anyAccount).name, key.entry.hex])
    return await ask(question, call, until: until)?.number == 1
  }

  /// Whether the entry may leave the process, is not too large, Redis can be reached, and there is room among the
  /// writes that wait.
  public func takes(_ entry: CacheEntry) -> Bool { fits(entry) && mailbox.takes(entry) }

  private func fits(_ entry: CacheEntry) -> Bool {
    !entry.head.isMemoryOnly && entry.body.count <= settings.entryLimit
  }

  /// Stores an entry, written behind. One that no disk may have or that is too large is not kept, and an older one goes.
  public func put(_ entry: CacheEntry) {
    guard fits(entry) else {
      return remove(.variant(entry.key, entry.head.variant))
    }
    mailbox.write(.put(CacheEntry(key: entry.key, head: entry.head, body: entry.body)))
  }

  /// Replaces the head of an entry whose body still holds, written behind; its time in Redis begins anew.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    guard !head.isMemoryOnly else { return remove(.variant(key, head.variant)) }
    mailbox.write(.renew(key, stored: stored, head: head))
  }

  /// Removes entries, for every server. Where Redis cannot be reached that is done as soon as it can.
  public func remove(_ selection: CacheSelection) {
    mailbox.write(.remove(selection))
  }

  /// The entries, most recently used first. Walks over all keys of the database, page by page.
  ///
  /// Stops early with what it has found if the task is cancelled, after 60 s, or if the server does not end the walk
  /// within as many pages as it has keys.
  /// Uses by other servers are known to within some hundred uses.
  public func list() async -> [CacheListing] {
    writeUses()
    var listings: [Digest: [CacheListing]] = [:]
    await walk(.list, width: 3) { row in
      guard let head = row[0].data, let record = CacheEntryRecord(encoded: head), let check = row[1].data,
        let length = RedisCheck(encoded: check)?.length
      else { return }
      let use = WallTime(milliseconds: row[2].text.flatMap { Int64($0) } ?? 0)
      let listing = CacheListing(head: record.head, key: record.key, bodyLength: length, lastUse: use)
      // A walk may come to an entry twice.
      let others = listings[record.key.entry, default: []].filter { $0.head.variant != record.head.variant }
      listings[record.key.entry] = others + [listing]
    }
    return listings.values.flatMap { $0 }.sorted { $0.lastUse > $1.lastUse }
  }

  /// How much is kept: bodies, heads and the words about them. Walks over all keys of the database, page by page.
  public func size() async -> CacheSize {
    var sizes: [String: Int] = [:]
    await walk(.size, width: 2) { row in
      guard let name = row[0].text, let bytes = row[1].number else { return }
      sizes[name] = Int(clamping: bytes)
    }
    return CacheSize(entries: sizes.count, bytes: sizes.values.reduce(0) { $0 &+ $1 }, limit: nil)
  }

  /// Returns when Redis has carried out everything that was put or removed before, or cannot be reached.
  public func flush() async {
    let ticket = RedisTicket()
    await wait(ticket) { mailbox.barrier(ticket) }
  }

  /// Whether Redis has taken all that was removed: ``RemovalState/pending`` until then, since a removal that waits for
  /// Redis lies in this process alone.
  public func removals(call: CallState, patience: Duration) async -> RemovalState {
    if mailbox.isSettled { return .done }
    let ticket = RedisTicket()
    let until = call.timers.now.advanced(by: patience)
    let hasCome = await wait(ticket, call, until: until) { mailbox.barrier(ticket) } != nil
    return mailbox.isSettled || hasCome && !mailbox.owesRemovals ? .done : .pending
  }

  // MARK: - Asking

  /// Asks Redis; a stop of the call and the end of its patience end the wait.
  private func ask(_ question: RedisCall, _ call: CallState, until: MonotonicInstant?) async -> RedisReply? {
    let ticket = RedisTicket()
    return await wait(ticket, call, until: until) { mailbox.ask(question, ticket) }
  }

  @discardableResult
  private func wait(
    _ ticket: RedisTicket, _ call: CallState, until: MonotonicInstant?, _ register: () -> Void
  ) async -> RedisReply? {
    var timer: TimerToken?
    do throws(CallState.Stopped) {
      try await call.wait { wakeup in
        ticket.begin { wakeup.resume() }
        if let until { timer = call.timers.schedule(at: until) { ticket.settle(nil) } }
        register()
      }
    } catch {
      // The call was stopped: what the ticket has by now is as good as nothing.
    }
    if let timer { call.timers.cancel(timer) }
    return ticket.leave()
  }

  /// Waits for as long as Redis is given for an answer.
  private func wait(_ ticket: RedisTicket, _ register: () -> Void) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      ticket.begin { continuation.resume() }
      register()
    }
  }

  /// Calls `each` with every row of every page. Stops if Redis cannot be reached, the task is cancelled, or the walk
  /// takes longer than ``RedisWalk`` admits.
  private func walk(_ script: RedisScript, width: Int, each: ([RedisReply]) -> Void) async {
    var cursor = "0"
    var limit = RedisWalk(now: .now)
    while !Task.isCancelled {
      let ticket = RedisTicket()
      let question = layout.call(script, [cursor, layout.pattern("*:e:*")])
      await wait(ticket) { mailbox.ask(question, ticket) }
      guard let page = ticket.leave()?.list, let next = page.first?.text, next.allSatisfy(\.isNumber) else { return }
      for start in stride(from: 2, to: page.count - width + 1, by: width) { each(Array(page[start..<(start + width)])) }
      guard limit.goesOn(to: next, keys: page.count > 1 ? page[1].number : nil, now: .now) else { return }
      cursor = next
    }
  }

  // MARK: - Finding

  private static func nothing(_ reply: RedisReply) -> CacheLookup {
    switch reply.list.first?.text {
    case "missing": .missing
    case "damaged": .damaged
    default: .unavailable
    }
  }

  /// The chosen entry; nil where it was replaced meanwhile and all has to be looked at anew.
  private func take(
    _ candidate: RedisFound.Candidate, of found: RedisFound, _ key: CacheKey, _ call: CallState,
    _ until: MonotonicInstant?
  ) async -> CacheLookup? {
    if let (check, body) = found.body(of: candidate) { return finish(candidate, key, check, body) }
    let question = layout.call(.pick, [key.entry.hex, candidate.variant])
    guard let parts = await ask(question, call, until: until)?.list else { return .unavailable }
    guard parts.count == 3, parts[0].data == candidate.bytes, let check = parts[1].data, let body = parts[2].data else {
      return nil
    }
    return finish(candidate, key, check, body)
  }

  private func finish(_ candidate: RedisFound.Candidate, _ key: CacheKey, _ check: Data, _ body: Data) -> CacheLookup {
    guard RedisCheck(encoded: check) == RedisCheck(body) else {
      drop(key, candidate.variant, candidate.bytes)
      return .damaged
    }
    note(RedisUse(entry: key.entry.hex, variant: candidate.variant))
    return .found(CacheEntry(key: key, head: candidate.head, body: body))
  }

  private func drop(_ key: CacheKey, _ variant: String, _ head: Data) {
    mailbox.write(.drop(RedisUse(entry: key.entry.hex, variant: variant), head: head))
  }

  private func note(_ use: RedisUse) {
    let count = uses.withLock { uses in
      uses[use] = .now
      return uses.count
    }
    if count >= Self.mostUses { writeUses() }
  }

  private func writeUses() {
    let noted = uses.withLock { uses in
      defer { uses = [:] }
      return uses
    }
    if !noted.isEmpty { mailbox.write(.touch(noted)) }
  }
}
