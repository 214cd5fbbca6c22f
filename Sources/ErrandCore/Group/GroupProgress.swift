/// How far a batch or a chain has come.
public struct GroupProgress: Sendable, Hashable {
  /// The members that have ended, whichever way.
  public let finished: Int
  /// The members in all; nil for a chain, whose steps nobody knows beforehand.
  public let total: Int?
  /// The bytes of bodies that have gone over the wire so far, up and down; those of a shared exchange for each member
  /// that shares it.
  public let bytes: Int64

  /// Makes a report.
  public init(finished: Int, total: Int?, bytes: Int64) {
    self.finished = finished
    self.total = total
    self.bytes = bytes
  }

  /// The part of the members that has ended, 0 to 1; nil where the total is unknown.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, Double(finished) / Double(total))
  }
}
