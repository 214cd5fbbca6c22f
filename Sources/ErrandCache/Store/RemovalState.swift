/// The state of removals from a store. A store may be unable to remove entries at the moment.
public enum RemovalState: Sendable, Hashable, CaseIterable, Comparable {
  /// All entries that were selected for removal are deleted.
  case done
  /// The removal is recorded in the store, and this process does not find the entries any more. The next process that
  /// opens the store deletes the entries before it reads.
  ///
  /// A process that already has the store open does not see the record of the removal, so it may find the entries until
  /// it opens the store again.
  case noted
  /// This process does not find the entries any more, but the entries are still in the store. They are found again if
  /// the process ends before the store can be written to.
  case pending
}
