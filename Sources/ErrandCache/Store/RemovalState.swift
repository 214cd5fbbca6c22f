/// How far what was removed has come, in a store that may not be able to remove just now.
public enum RemovalState: Sendable, Hashable, CaseIterable, Comparable {
  /// All of it is gone.
  case done
  /// It is not found any more, and written down, so that whoever opens the store next removes it before reading.
  ///
  /// Another process that already has the store open does not read the note until it opens the store again, and may find
  /// what was removed till then.
  case noted
  /// It is not found by this process any more. It lies in the store still, and is found again if the process ends before
  /// the store can be written to.
  case pending
}
