/// The progress of a batch or a chain.
public struct GroupProgress: Sendable, Hashable {
  /// The number of members that have ended, with success or failure.
  public let finished: Int
  /// The number of all members; nil for a chain, whose steps are not known in advance.
  public let total: Int?
  /// The number of bytes of request and response bodies that were sent and received so far. The bytes of a shared
  /// exchange count once for each member that shares the exchange.
  public let bytes: Int64

  /// Makes a value with the given numbers.
  package init(finished: Int, total: Int?, bytes: Int64) {
    self.finished = finished
    self.total = total
    self.bytes = bytes
  }

  /// The fraction of members that have ended, 0 to 1; nil if the total is unknown.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, Double(finished) / Double(total))
  }
}
