/// How far a transfer is, as it is told to a user.
package struct ProgressReading: Sendable, Hashable {
  /// The bytes that are there, those of earlier tries among them.
  package let bytes: Int64
  /// The bytes in all; nil where nobody has said.
  package let total: Int64?
  /// Bytes a second, smoothed; nil where it cannot be told yet.
  package let rate: Double?
  /// How long the rest takes at this rate; nil where it cannot be told.
  package let timeLeft: Duration?
  /// Whether the transfer has begun anew, so that the bytes may be fewer than before.
  package let isRestart: Bool
  /// Whether the file has its name. The last report.
  package let isFinished: Bool

  /// The part done; nil where the total is unknown. 1 only when the file has its name, and at most 0.99 before.
  package var fraction: Double? {
    if isFinished { return 1 }
    guard let total, total > 0 else { return nil }
    return min(0.99, max(0, Double(bytes) / Double(total)))
  }
}
