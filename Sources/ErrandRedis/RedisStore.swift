import ErrandSupport
public import ErrandCache
public import ErrandCore
import Foundation

/// Stores cache entries in Redis, so that several application servers share one cache.
///
/// ```swift
/// let store = RedisStore(host: "10.0.0.5")
/// configuration.cache.store = .own(ResponseCache(store: store))
/// ```
///
/// Redis holds the only copy: when one application server stores, renews or removes an entry, all other application
/// servers see the change immediately. Each change is one script in Redis, so no client of Redis sees a partial change.
/// One thread of the store sends all commands over one connection, in order. So a lookup finds all entries that this
/// process stored before. A call stops waiting for Redis when the time that it may wait or its deadline ends, or when
/// the call is cancelled.
///
/// If Redis is unavailable, every lookup is ``ErrandCache/CacheLookup/unavailable`` immediately, and nothing is stored:
/// - The store connects again after at most a tenth of a second. After each further failure it doubles the pause, up to
///   five seconds.
/// - Removals are kept, and are applied before anything is read again.
/// - Writes that were in progress when the connection broke are dropped, and the older entries under their keys are
///   removed.
///
/// In these cases responses have to be loaded from the server, but no call fails.
///
/// Entries that must not be written to a disk are not stored in Redis. Bodies, URLs with masked queries and response
/// fields are stored in plain text, so every client with access to Redis can read them. Key names are digests. The
/// store requires Redis 6 or later, not in cluster mode, with write access (no replica).
///
/// | operation | cost for Redis |
/// |---|---|
/// | find, put, renew, remove a key or a variant, `holdsForOthers` | some dozens of hash and set operations, one round trip; a second one if the selected variant is not the newest; for responses in cache groups (RFC 9875) one more set operation per variant and group, for at most 32 groups of each |
/// | remove by target, account, host, tag, groups | one rename, for several groups one each; deletion in the background, a hundred responses per step |
/// | remove all, or older entries | one write; deletion in the background by a scan of all keys of the database |
/// | list, size | a scan of all keys of the database, a hundred per step |
/// | memory in addition to head and body | about one KiB per entry |
public final class RedisStore: CacheStore {
  /// The maximum time that a call waits until Redis returns the salt (random bytes that are part of all digests).
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
    mailbox = RedisMailbox(settings) { mailbox, pipe in
      RedisLoop(settings: settings, address: address, layout: layout, mailbox: mailbox, pipe: pipe).run()
    }
  }

  deinit {
    writeUses()
    mailbox.close()
  }

  /// The salt of the store: 32 random bytes that are stored in Redis and shared by all application servers.
  ///
  /// Waits for the patience of the call, but at most a quarter of a second. Nil if Redis did not reply in this time.
  public func salt(call: CallState, patience: Duration?) async -> Digest? {
    if let salt = layout.salt { return salt }
    let until = call.timers.now.advanced(by: min(patience ?? Self.saltPatience, Self.saltPatience))
    return await send(layout.call(.salt), call, until: until)?.salt
  }

  /// Looks up an entry. `choosing` is called on the caller's thread.
  public func find(
    _ key: CacheKey, choosing: @escaping @Sendable ([CacheEntryHead]) -> Int?, call: CallState, patience: Duration?
  ) async -> CacheLookup {
    let until = patience.map { call.timers.now.advanced(by: $0) }
    for _ in 0..<3 {
      let command = layout.call(.find, [key.entry.hex])
      guard let reply = await send(command, call, until: until) else { return .unavailable }
      guard let found = RedisFound(reply, key) else { return Self.nothing(reply) }
      for head in found.damaged { drop(key, head.variant, head.bytes) }
      let heads = found.candidates.map(\.head)
      guard !heads.isEmpty else { return .damaged }
      guard let choice = choosing(heads), heads.indices.contains(choice) else { return .refused(heads) }
      if let lookup = await take(found.candidates[choice], of: found, key, call, until) { return lookup }
    }
    return .unavailable
  }

  /// Whether Redis stores a response to a request for another account than the given ones.
  public func holdsForOthers(
    _ anyAccount: Digest, than accounts: [Digest], call: CallState, patience: Duration?
  ) async -> Bool {
    let until = patience.map { call.timers.now.advanced(by: $0) }
    let indexes = [RedisIndex(.anyAccount, anyAccount)] + accounts.map { RedisIndex(.account, $0) }
    let command = layout.call(.holds, indexes.map(\.name))
    return await send(command, call, until: until)?.number == 1
  }

  /// Whether the store would keep the entry. The result is true if four conditions hold: the entry may leave the
  /// process, its body is not larger than ``RedisSettings/entryLimit``, Redis is available, and the entry fits into
  /// ``RedisSettings/backlogLimit``.
  public func takes(_ entry: CacheEntry) -> Bool { fits(entry) && mailbox.wouldSend(entry) }

  private func fits(_ entry: CacheEntry) -> Bool {
    !entry.head.isMemoryOnly && entry.body.count <= settings.entryLimit
  }

  /// Stores an entry, which is written in the background. If the entry is too large or must not be written to a disk,
  /// the entry is not stored, and all entries under its key are removed.
  public func put(_ entry: CacheEntry) {
    guard fits(entry) else { return mailbox.write(.displace(entry.key)) }
    mailbox.write(.put(CacheEntry(key: entry.key, head: entry.head, body: entry.body)))
  }

  /// Replaces the head (status, fields and cache data) of an entry whose body is still valid. The head is written in
  /// the background. The time after which Redis removes the entry starts again.
  public func renew(_ key: CacheKey, stored: WallTime, head: CacheEntryHead) {
    guard !head.isMemoryOnly else { return mailbox.write(.displace(key)) }
    mailbox.write(.renew(key, stored: stored, head: head))
  }

  /// Removes entries for every application server. If Redis is unavailable, the removal is applied as soon as Redis is
  /// available again.
  public func remove(_ selection: CacheSelection) {
    guard case .groups(let groups) = selection else { return mailbox.write(.remove(selection)) }
    for group in groups { mailbox.write(.remove(.group(group))) }
  }

  /// All entries, most recently used first. Scans all keys of the database, page by page.
  ///
  /// The scan stops early if the task is cancelled, after 60 s, after 128 MiB of replies, or if Redis does not end the
  /// scan within as many pages as the database has keys. The result then contains the entries that were found so far.
  /// Other application servers report the times of last uses in batches of up to some hundred uses, so these times may
  /// be out of date.
  public func list() async -> [CacheListing] {
    writeUses()
    var listings: [Digest: [CacheListing]] = [:]
    await walk(.list, width: 3) { row in
      guard let head = row[0].data, let record = CacheEntryRecord(encoded: head), let checksum = row[1].data,
        let length = BodyChecksum(encoded: checksum)?.length
      else { return }
      let use = WallTime(milliseconds: row[2].text.flatMap { Int64($0) } ?? 0)
      let listing = CacheListing(head: record.head, key: record.key, bodyLength: length, lastUse: use)
      // Redis may return an entry twice in one scan, so a listing replaces an earlier listing of the same response.
      let others = listings[record.key.entry, default: []].filter { $0.head.variant != record.head.variant }
      listings[record.key.entry] = others + [listing]
    }
    return listings.values.flatMap { $0 }.sorted { $0.lastUse > $1.lastUse }
  }

  /// The number of entries, and the size of their bodies, heads and metadata in bytes. Scans all keys of the database,
  /// page by page, and stops early as ``list()`` does.
  public func size() async -> CacheSize {
    var sizes: [String: Int] = [:]
    await walk(.size, width: 2) { row in
      guard let name = row[0].text, let bytes = row[1].number else { return }
      sizes[name] = Int(clamping: bytes)
    }
    return CacheSize(entries: sizes.count, bytes: sizes.values.reduce(0) { $0 &+ $1 }, limit: nil)
  }

  /// Waits until Redis has applied all earlier changes, or until Redis is unavailable.
  public func flush() async {
    let pendingReply = PendingReply()
    _ = await pendingReply.value { mailbox.barrier(pendingReply) }
  }

  /// Sends what is pending, and ends the connection and the thread of the store. Afterwards every lookup is
  /// ``ErrandCache/CacheLookup/unavailable``, nothing is stored, and a removal stays ``RemovalState/pending``. If Redis
  /// is unavailable, does not wait, and the changes that wait for Redis are lost.
  public func close() async {
    writeUses()
    await flush()
    mailbox.close()
  }

  /// The state of all earlier removals. The state is ``RemovalState/pending`` until Redis has applied all removals,
  /// because a removal that waits for Redis exists only in this process.
  public func removals(call: CallState, patience: Duration) async -> RemovalState {
    if mailbox.isSettled { return .done }
    let pendingReply = PendingReply()
    let until = call.timers.now.advanced(by: patience)
    let hasReply = await pendingReply.value(call, until: until) { mailbox.barrier(pendingReply) } != nil
    return mailbox.isSettled || hasReply && !mailbox.hasPendingRemovals ? .done : .pending
  }

  // MARK: - Sending

  /// Sends a command to Redis and returns the reply. Nil if the call is stopped, if the time `until` passes, or if the
  /// connection is lost before the reply arrives.
  private func send(_ command: RedisCall, _ call: CallState, until: MonotonicInstant?) async -> RedisReply? {
    let pendingReply = PendingReply()
    return await pendingReply.value(call, until: until) { mailbox.request(command, pendingReply) }
  }

  /// Scans all keys of the database and calls `each` with every row of the replies. Stops if Redis is unavailable, if
  /// the task is cancelled, or if ``RedisWalk`` ends the scan.
  private func walk(_ script: RedisScript, width: Int, each: ([RedisReply]) -> Void) async {
    var cursor = "0"
    var limit = RedisWalk(now: .now)
    while !Task.isCancelled {
      let pendingReply = PendingReply()
      let command = layout.call(script, [cursor, layout.pattern("*:v:*")])
      let found = await pendingReply.value { mailbox.request(command, pendingReply) }
      guard let reply = found, let next = reply.list.first?.text, next.allSatisfy(\.isNumber) else { return }
      let page = reply.list
      for start in stride(from: 2, to: page.count - width + 1, by: width) { each(Array(page[start..<(start + width)])) }
      let keys = page.count > 1 ? page[1].number : nil
      guard limit.continues(to: next, keys: keys, bytes: reply.length, now: .now) else { return }
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

  /// Returns the entry that the caller selected. Nil if another entry has replaced the selected entry after the
  /// selection, so that the lookup must start again.
  private func take(
    _ candidate: RedisFound.Candidate, of found: RedisFound, _ key: CacheKey, _ call: CallState,
    _ until: MonotonicInstant?
  ) async -> CacheLookup? {
    if let (checksum, body) = found.body(of: candidate) { return finish(candidate, key, checksum, body) }
    let command = layout.call(.pick, [key.entry.hex, candidate.variant])
    guard let parts = await send(command, call, until: until)?.list else { return .unavailable }
    guard parts.count == 3, parts[0].data == candidate.bytes, let checksum = parts[1].data, let body = parts[2].data
    else {
      return nil
    }
    return finish(candidate, key, checksum, body)
  }

  private func finish(
    _ candidate: RedisFound.Candidate, _ key: CacheKey, _ checksum: Data, _ body: Data
  ) -> CacheLookup {
    guard BodyChecksum(encoded: checksum) == BodyChecksum(body) else {
      drop(key, candidate.variant, candidate.bytes)
      return .damaged
    }
    recordUse(RedisUse(entry: key.entry.hex, variant: candidate.variant))
    return .found(CacheEntry(key: key, head: candidate.head, body: body))
  }

  private func drop(_ key: CacheKey, _ variant: String, _ head: Data) {
    mailbox.write(.drop(RedisUse(entry: key.entry.hex, variant: variant), head: head))
  }

  private func recordUse(_ use: RedisUse) {
    let count = uses.withLock { uses in
      uses[use] = .now
      return uses.count
    }
    if count >= Self.mostUses { writeUses() }
  }

  private func writeUses() {
    let recorded = uses.withLock { uses in
      defer { uses = [:] }
      return uses
    }
    if !recorded.isEmpty { mailbox.write(.touch(recorded)) }
  }
}
