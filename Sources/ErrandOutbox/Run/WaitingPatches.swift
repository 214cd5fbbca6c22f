import ErrandCache
import ErrandCore
import ErrandSupport

/// An entry whose patches apply: it waits, or it was delivered and its request is kept.
struct PatchedEntry: Sendable {
  let id: Int64
  let type: String
  /// A number that changes if the request changes, if a reference gets its identifier, or if the entry is delivered.
  let state: Int
  /// The time of the delivery (``EntryFacts/kept``); nil while the entry waits.
  let delivered: WallTime?

  init(id: Int64, type: String, key: String, waits: Int, delivered: WallTime?) {
    var hasher = Hasher()
    hasher.combine(key)
    hasher.combine(waits)
    hasher.combine(delivered)
    (self.id, self.type, self.delivered) = (id, type, delivered)
    state = hasher.finalize()
  }

  init(_ facts: EntryFacts) {
    self.init(id: facts.id, type: facts.type, key: facts.key, waits: facts.waits, delivered: facts.kept)
  }
}

struct EntryPatches: Sendable {
  let id: Int64
  /// ``PatchedEntry/state``
  let state: Int
  var delivered: WallTime?
  var patches: [OutboxPatch]

  func apply<R: APIRequest>(to value: inout R.Response, of request: R) {
    for patch in patches where patch.target == ObjectIdentifier(R.self) { patch.apply(to: &value, of: request) }
  }
}

/// The patches of the entries of one account that wait or were delivered lately, by the types of requests whose
/// responses they change.
///
/// They are read from the store when they are asked for. Afterwards they follow the changes of this process, so a change
/// does not read the entries that wait. They are read again if another process has changed the store, or for another
/// account. The memory is that of the closures of the app and about 200 bytes for each entry of an optimistic type:
/// 100,000 entries with two patches each used 50 MB.
struct WaitingPatches {
  /// A place in the sequence of all changes.
  struct Cursor: Sendable, Equatable {
    let reading: Int
    let number: Int
  }

  /// What has changed after a cursor, for one type of request.
  struct News: Sendable {
    let account: String
    let cursor: Cursor
    /// Whether `entries` are all entries, because too much has changed since the cursor.
    let isWhole: Bool
    /// The entries whose patches apply, in the order in which they were added.
    let entries: [EntryPatches]
    /// The entries whose patches apply no more.
    var ended: [Int64] = []
  }

  static let mostChanges = 4_096

  let account: String
  /// The version of the database that was read.
  let version: Int64
  private let reading: Int
  private var entries: [Int64: EntryPatches] = [:]
  private var lists: [ObjectIdentifier: [EntryPatches]] = [:]
  /// The entries that have changed, the latest last.
  private var changed: [Int64] = []
  /// The entries whose patches could not be read yet, for example because the key of the seal is unavailable.
  fileprivate var unread: [Int64: PatchedEntry] = [:]
  /// The number of earlier changes that are not remembered.
  private var forgotten = 0

  init(account: String, version: Int64, after former: WaitingPatches?) {
    (self.account, self.version) = (account, version)
    reading = (former?.reading ?? 0) &+ 1
  }

  /// The patches of an entry, if they are known for its present state.
  func known(_ entry: PatchedEntry) -> EntryPatches? {
    entries[entry.id].flatMap { $0.state == entry.state ? $0 : nil }
  }

  /// Sets the patches of an entry; nil if they do not apply any more.
  mutating func set(_ new: EntryPatches?, for id: Int64) {
    unread[id] = nil
    let old = entries[id]
    guard new != nil || old != nil else { return }
    entries[id] = new
    let targets = Set((new?.patches ?? []).map(\.target))
    for target in targets.union((old?.patches ?? []).map(\.target)) {
      lists[target, default: []].set(targets.contains(target) ? new : nil, for: id)
    }
    changed.append(id)
    guard changed.count > 2 * Self.mostChanges else { return }
    changed.removeFirst(Self.mostChanges)
    forgotten += Self.mostChanges
  }

  /// The changes for one type of request.
  func news(for target: ObjectIdentifier, since cursor: Cursor?) -> News {
    let now = Cursor(reading: reading, number: forgotten + changed.count)
    guard let cursor, cursor.reading == reading, cursor.number >= forgotten else {
      return News(account: account, cursor: now, isWhole: true, entries: lists[target] ?? [])
    }
    var news: (entries: [EntryPatches], ended: [Int64]) = ([], [])
    for id in Set(changed.dropFirst(cursor.number - forgotten)).sorted() {
      if let entry = entries[id], entry.patches.contains(where: { $0.target == target }) {
        news.entries.append(entry)
      } else {
        news.ended.append(id)
      }
    }
    return News(account: account, cursor: now, isWhole: false, entries: news.entries, ended: news.ended)
  }
}

extension [EntryPatches] {
  /// The first place whose entry was not added before the given one, in a list in the order of the additions.
  func place(of id: Int64) -> Int {
    // Most changes are at the end.
    if let last, last.id < id { return endIndex }
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Replaces, inserts or removes an entry. Returns the former one.
  @discardableResult
  mutating func set(_ new: EntryPatches?, for id: Int64) -> EntryPatches? {
    let place = place(of: id)
    let old = place < endIndex && self[place].id == id ? self[place] : nil
    switch (old, new) {
    case (nil, let new?): insert(new, at: place)
    case (.some, let new?): self[place] = new
    case (.some, nil): remove(at: place)
    case (nil, nil): break
    }
    return old
  }
}

// All functions must be called on the queue.
extension OutboxRunner {
  /// What has changed of the patches of the present account.
  func patchNews<R: APIRequest>(
    for target: R.Type, since cursor: WaitingPatches.Cursor?
  ) throws -> WaitingPatches.News {
    let (account, version) = (client.presentAccount ?? "", try store.dataVersion())
    if patches?.version != version || patches?.account.hasSameBytes(as: account) != true {
      var read = WaitingPatches(account: account, version: version, after: patches)
      if !optimistic.isEmpty {
        for entry in try store.patched(of: account, types: Array(optimistic.keys)) {
          if let known = patches?.known(entry) { read.set(known, for: entry.id) } else { read.unread[entry.id] = entry }
        }
      }
      patches = read
    }
    readPatches()
    let present = patches ?? WaitingPatches(account: account, version: version, after: nil)
    return present.news(for: ObjectIdentifier(target), since: cursor)
  }

  /// Reads the patches that were not read yet. Stops at the first entry that cannot be read now, because the others
  /// have the same seal.
  private func readPatches() {
    for (id, entry) in (patches?.unread ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard let found = patches(of: entry) else { return }
      patches?.set(found, for: id)
    }
  }

  /// Follows the change of an entry, if the patches were read.
  func followPatches(_ facts: EntryFacts) {
    // Without a copy of `patches`, because a change of a shared value copies all entries.
    guard optimistic[facts.type] != nil, patches?.account.hasSameBytes(as: facts.account) == true else { return }
    let entry = PatchedEntry(facts)
    if facts.state.isFinal, facts.kept == nil {
      patches?.set(nil, for: facts.id)
    } else if patches?.known(entry) == nil {
      let found = patches(of: entry)
      patches?.set(found, for: facts.id)
      if found == nil { patches?.unread[facts.id] = entry }
    }
  }

  /// The patches of a stored entry; none if it can never be read, because sending it will report that. Nil if it cannot
  /// be read now.
  private func patches(of entry: PatchedEntry) -> EntryPatches? {
    var found = EntryPatches(id: entry.id, state: entry.state, delivered: entry.delivered, patches: [])
    guard let type = optimistic[entry.type] else { return found }
    do {
      guard let stored = try store.stored(entry.id), stored.isIntact, stored.facts.version <= type.outboxVersion,
        let request = try coding.decode(type, stored, store, isSent: false) as? any OptimisticRequest
      else { return found }
      let made = try entry.delivered == nil ? nil : store.made(by: entry.id)
      found.patches = request.patches(
        of: made.map { OutboxReference($0) } ?? OutboxReference(createdBy: .init(rawValue: entry.id)))
      return found
    } catch let failure as SQLiteFailure where !failure.isDamage {
      return nil
    } catch is SealFailure {
      return nil
    } catch { return found }
  }
}
