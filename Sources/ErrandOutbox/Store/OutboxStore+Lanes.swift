import ErrandCache
import ErrandSupport

// The order of the entries in their lanes, and the entries that replace others or cancel out. All functions must be
// called inside a transaction.
extension OutboxStore {
  /// The first entries of a lane that block it.
  private func blocking(_ account: String, _ lane: String, limit: Int) throws -> [Int64] {
    let found = try rows(
      "SELECT id FROM entry INDEXED BY entry_lane WHERE blocks=1 AND account=? AND lane=? ORDER BY id LIMIT ?",
      .text(account), .text(lane), .number(Int64(limit + damaged.count))
    ) { $0.number(0) }
    return Array(found.filter { damaged[$0]?.blocksLane ?? true }.prefix(limit))
  }

  func isEmpty(_ account: String, _ lane: String) throws -> Bool { try blocking(account, lane, limit: 1).isEmpty }

  /// Marks the first entry of a lane that blocks. If an entry came back before the earlier first one, the earlier one
  /// is now the second, and loses its mark. A damaged entry keeps the mark that it has.
  func promote(_ account: String, _ lane: String) throws {
    for (id, mark) in zip(try blocking(account, lane, limit: 2), [1, 0] as [Int64]).reversed() {
      try sparing(id) { try run("UPDATE entry SET head=?1 WHERE head<>?1 AND id=?2", .number(mark), .number(id)) }
    }
  }

  // MARK: - Coalescing

  /// The last entries of the lane, as far as they have the same type, were never sent, and no other entry refers to
  /// them. An entry before another one is not replaced, because the other one may depend on it. Empty for the common
  /// lane, whose entries change different objects.
  /// - Parameter parents: The entries to which the new entry refers.
  func superseded(by facts: EntryFacts, _ parents: [Int64]) throws -> [Int64] {
    guard !facts.lane.isEmpty else { return [] }
    var found: [Int64] = []
    while let id = try number(
      "SELECT max(id) FROM entry INDEXED BY entry_lane WHERE blocks=1 AND account=? AND lane=? AND id<?",
      .text(facts.account), .text(facts.lane), .number(found.last ?? .max))
    {
      guard !parents.contains(id), let last = try self.facts(of: id), last.type == facts.type, last.isUntouched,
        try children(of: id).isEmpty
      else { break }
      found.append(id)
    }
    return found.reversed()
  }

  /// The entries that an entry cancels out, as ``OutboxRule/cancelsOut(_:)`` documents it. Nil if there is none, or if
  /// one of them may have been sent. A reference that an app kept over a change of the account leads to no creation.
  func cancelled(by facts: EntryFacts, _ types: [String], _ parents: [Int64]) throws -> [Int64]? {
    let parent = try parents.compactMap { try self.facts(of: $0) }.last {
      types.contains($0.type) && $0.account.hasSameBytes(as: facts.account)
    }
    let victims = try parent.map { try referring(to: $0, facts) } ?? inLane(of: facts, types)
    guard !victims.isEmpty, victims.allSatisfy(\.isUntouched) else { return nil }
    return victims.map(\.id)
  }

  /// A creation and the entries that refer to it, directly or through others. Empty if a later entry of one of the
  /// lanes does not refer to it, because that entry may depend on the creation in a way that the outbox cannot see.
  private func referring(to creation: EntryFacts, _ deletion: EntryFacts) throws -> [EntryFacts] {
    var found = [creation]
    var ids: Set = [creation.id]
    var next = 0
    while next < found.count {
      for id in try children(of: found[next].id) {
        guard let child = try self.facts(of: id), !child.state.isFinal, ids.insert(id).inserted else { continue }
        found.append(child)
      }
      next += 1
    }
    let others = try (lane(of: creation) + lane(of: deletion)).filter { $0.id > creation.id && !ids.contains($0.id) }
    return others.isEmpty ? found.sorted { $0.id < $1.id } : []
  }

  /// A creation in the lane of an entry, and all later entries of the lane. Empty if the lane is not that of one
  /// object: the common lane, or a lane with several creations.
  private func inLane(of facts: EntryFacts, _ types: [String]) throws -> [EntryFacts] {
    guard !facts.lane.isEmpty else { return [] }
    let lane = try lane(of: facts)
    let creations = lane.filter { types.contains($0.type) }
    guard let creation = creations.first, creations.count == 1 else { return [] }
    return lane.filter { $0.id >= creation.id }
  }

  private func lane(of facts: EntryFacts) throws -> [EntryFacts] {
    try rows(
      "SELECT id FROM entry INDEXED BY entry_lane WHERE blocks=1 AND account=? AND lane=? ORDER BY id",
      .text(facts.account), .text(facts.lane)
    ) { $0.number(0) }.compactMap { try self.facts(of: $0) }
  }
}
