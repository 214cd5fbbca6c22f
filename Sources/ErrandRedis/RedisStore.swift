import ErrandSupport
public import ErrandCache
public import ErrandCore
import Foundation

/// Stores entries in Redis, so that several servers share one cache.
///
/// ```swift
/// let store = RedisStore(host: "10.0.0.5")
/// configuration.cache = .own(ResponseCache(store: store))
/// ```
///
/// Redis holds the only copy: when one server stores, renews or removes an entry, all other servers see the change
/// immediately. Each change is one script in Redis, so no client sees a partial change. The store's thread sends all
/// commands over one connection, in order. So a lookup finds all entries that this process put before. A call waits for
/// Redis at most until its patience or its deadline ends, or until it is cancelled.
///
/// If Redis is unavailable, every lookup is ``ErrandCache/CacheLookup/unavailable`` immediately, and nothing is stored:
/// - The store connects again after at most a tenth of a second. After each further failure it doubles the pause, up to
///   five seconds.
/// - Removals are kept, and are applied before anything is read again.
/// - Writes that were in progress when the connection broke are dropped, and the entries that they would have replaced
///   are removed.
///
/// In these cases responses have to be loaded from the server, but no call fails.
///
/// Entries that must not be written to a disk are not stored in Redis. Bodies, URLs with masked queries and response
/// fields are stored in plain text, so every client with access to Redis can read them. Key names are digests. The
/// store requires Redis 6 or later, not in cluster mode, with write access (no replica).
///
/// | operation | cost for Redis |
/// |---|---|
/// | find, put, renew, remove a key or a variant, `holdsForOthers` | some dozens of hash and set operations, one round trip; a second one if the selected variant is not the newest |
/// | remove by target, account, host, tag | one rename; deletion in the background, a hundred responses per step |
/// | remove all, or older entries | one write; deletion in the background by a scan of all keys of the database |
/// | list, size | a scan of all keys of the database, a hundred per step |
/// | memory in addition to head and body | about one KiB per entry |
public final class RedisStore: CacheStore {
  /// The maximum time that the first call waits for the salt.
  private static let saltPatience = Duration.milliseconds(250)
  private static let mostUses = 256

  private let settings: RedisSettings
  private let layout: RedisLayout
  private let mailbox: RedisMailbox
  private let uses = Locked<[RedisUse: WallTime]>([:])

  /// Makes a store in a Redis server that listens on TCP. The store connects at its first use.
  ///
  /// - Parameters:
  ///   - host: A host name or an address.
  ///   - port: The port.
  ///   - settings: The settings of the store.
  public convenience init(host: String, port: Int = 6_379, settings: RedisSettings = RedisSettings()) {
    self.init(.tcp(host: host, port: port), settings)
  }

  /// Makes a store in a Redis server that listens on a Unix socket. The store connects at its first use.
  ///
  /// - Parameters:
  ///   - socket: The path of the socket.
  ///   - settings: The settings of the store.
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

  /// The salt of the store: 32 random bytes that are stored in Redis and shared by all servers.
  ///
  /// Waits at most a quarter of a second. Nil if Redis did not reply.
  public func salt(call: CallState, patience: Duration?) async -> Digest? {
    if let salt = layout.salt { return salt }
    let until = call.timers.now.advanced(by: min(patience ?? Self.saltPatience, Self.saltPatience))
    return await ask(layout.call(.salt), call, until: until)?.salt
  }

  /// Looks up an entry. `choosing` is called on the caller's thread.
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

  /// Whether a response to the same request is stored for another account.
  public func holdsForOthers(_ key: CacheKey, call: CallState, patience: Duration?) async -> Bool {
    let until = patience.map { call.timers.now.advanced(by: $0) }
    let question = layout.call(.holds, [RedisIndex(.anyAccount, key.anyAccount).name, key.entry.hex])
    return await ask(question, call, until: until)?.number == 1
  }

  /// Whether the store would keep the entry. It must be allowed to leave the process and must not be larger than the
  /// limit for one entry. Redis must be available, and the limit for pending entries must not be reached.
  public func takes(_ entry: CacheEntry) -> Bool { fits(entry) && mailbox.takes(entry) }

  private func fits(_ entry: CacheEntry) -> Bool {
    !entry.head.isMemoryOnly && entry.body.count <= settings.entryLimit
  }

  /// Stores an entry; it is written in the background. If the entry is too large or must not be written to a disk, it
  /// is not stored, and the stored entry that it would replace is removed.
  public func put(_ entry: CacheEntry) {
    guard fits(entry) else {
      return remove(.variant(entry.key, entry.head.variant))
    }
    mailbox.write(.put(CacheEntry(key: entry.key, head: entry.head, body: entry.body)))
  }

  /// Replaces the head of an entry whose body is still valid. The head is written in the background. The time until
  /// Redis removes the entry starts again.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    guard !head.isMemoryOnly else { return remove(.variant(key, head.variant)) }
    mailbox.write(.renew(key, stored: stored, head: head))
  }

  /// Removes entries for every server. If Redis is unavailable, the removal is applied as soon as Redis is available
  /// again.
  public func remove(_ selection: CacheSelection) {
    mailbox.write(.remove(selection))
  }

  /// All entries, most recently used first. Scans all keys of the database, page by page.
  ///
  /// The scan stops early if the task is cancelled, after 60 s, or if the server does not end it within as many pages
  /// as it has keys. The entries found so far are then returned. Other servers report the last uses of entries with a
  /// delay of up to some hundred uses.
  public func list() async -> [CacheListing] {
    writeUses()
    var listings: [Digest: [CacheListing]] = [:]
    await walk(.list, width: 3) { row in
      guard let head = row[0].data, let record = CacheEntryRecord(encoded: head), let check = row[1].data,
        let length = RedisCheck(encoded: check)?.length
      else { return }
      let use = WallTime(milliseconds: row[2].text.flatMap { Int64($0) } ?? 0)
      let listing = CacheListing(head: record.head, key: record.key, bodyLength: length, lastUse: use)
      // A scan may return an entry twice.
      let others = listings[record.key.entry, default: []].filter { $0.head.variant != record.head.variant }
      listings[record.key.entry] = others + [listing]
    }
    return listings.values.flatMap { $0 }.sorted { $0.lastUse > $1.lastUse }
  }

  /// The number of entries, and the size of their bodies, heads and metadata in bytes. Scans all keys of the database,
  /// page by page.
  public func size() async -> CacheSize {
    var sizes: [String: Int] = [:]
    await walk(.size, width: 2) { row in
      guard let name = row[0].text, let bytes = row[1].number else { return }
      sizes[name] = Int(clamping: bytes)
    }
    return CacheSize(entries: sizes.count, bytes: sizes.values.reduce(0) { $0 &+ $1 }, limit: nil)
  }

  /// Returns when Redis has applied all earlier changes, or when Redis is unavailable.
  public func flush() async {
    let ticket = RedisTicket()
    await wait(ticket) { mailbox.barrier(ticket) }
  }

  /// The state of the removals. It is ``RemovalState/pending`` until Redis has applied all of them, because a removal
  /// that waits for Redis exists only in this process.
  public func removals(call: CallState, patience: Duration) async -> RemovalState {
    if mailbox.isSettled { return .done }
    let ticket = RedisTicket()
    let until = call.timers.now.advanced(by: patience)
    let hasCome = await wait(ticket, call, until: until) { mailbox.barrier(ticket) } != nil
    return mailbox.isSettled || hasCome && !mailbox.owesRemovals ? .done : .pending
  }

  // MARK: - Asking

  /// Sends a question to Redis and returns the reply. The wait ends early if the call stops or the patience ends.
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
      // The call was stopped, so its result is not needed any more.
    }
    if let timer { call.timers.cancel(timer) }
    return ticket.leave()
  }

  /// Waits until the ticket has a reply, or until there will be no reply because the connection is lost.
  private func wait(_ ticket: RedisTicket, _ register: () -> Void) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      ticket.begin { continuation.resume() }
      register()
    }
  }

  /// Scans all keys of the database and calls `each` with every row. Stops if Redis is unavailable, if the task is
  /// cancelled, or if ``RedisWalk`` ends the scan.
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

  /// The selected entry. Nil if another entry has replaced it in the meantime, so that the lookup must start again.
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
