/// The state of one transfer for display.
struct ProgressState: Sendable, Equatable {
  /// The phases of a transfer.
  enum Phase: Sendable, Equatable {
    /// The transfer waits for its turn.
    case waiting
    /// Bytes are being transferred.
    case running
    /// The transfer is complete.
    case done
    /// The transfer was stopped on purpose; the text says what was kept.
    case stopped(String)
    /// The transfer failed; the text contains the reason.
    case failed(String)
  }

  /// The name to display. Unsafe characters are replaced when the name is drawn.
  var name: String
  /// The phase.
  var phase = Phase.running
  /// The number of transferred bytes.
  var bytes: Int64 = 0
  /// The number of bytes that were already on the disk at the start.
  var kept: Int64 = 0
  /// The total number of bytes, if known.
  var total: Int64?
  /// The rate in bytes per second, if known.
  var rate: Double?
  /// The remaining time, if known.
  var timeLeft: Duration?
  /// The elapsed time.
  var elapsed: Duration?

  /// Additional text for a completed transfer.
  var note: String?

  /// Whether the transfer has ended.
  var isOver: Bool {
    switch phase {
    case .waiting, .running: false
    case .done, .stopped, .failed: true
    }
  }

  /// The completed share from 0 to 1; nil if the total is unknown. 1 only for a completed transfer.
  var fraction: Double? {
    if phase == .done { return 1 }
    guard let total else { return nil }
    guard total > 0 else { return 0 }
    return min(max(0, Double(bytes) / Double(total)), 0.999)
  }

  /// The completed share in percent, rounded down; 100 only for a completed transfer.
  var percent: Int? { fraction.map { Int($0 * 100) } }
}
