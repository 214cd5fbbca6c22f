/// The state of one transfer for display.
struct ProgressState: Sendable, Equatable {
  /// The phases of a transfer.
  enum Phase: Sendable, Equatable {
    /// The transfer has not begun yet, for example because it waits for other transfers.
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
  /// The phase of the transfer.
  var phase = Phase.running
  /// The number of transferred bytes.
  var bytes: Int64 = 0
  /// The number of bytes that an earlier run had already stored when this transfer started.
  var kept: Int64 = 0
  /// The total number of bytes to transfer; nil if it is unknown.
  var total: Int64?
  /// The rate of the transfer in bytes per second; nil if it is unknown.
  var rate: Double?
  /// The estimated time until the end of the transfer; nil if it is unknown.
  var timeLeft: Duration?
  /// The elapsed time since the start of the transfer; nil if it is not displayed.
  var elapsed: Duration?

  /// Additional text for a completed transfer, such as the verified checksums; nil for none.
  var note: String?

  /// Whether the transfer has ended.
  var isOver: Bool {
    switch phase {
    case .waiting, .running: false
    case .done, .stopped, .failed: true
    }
  }

  /// The completed share from 0 to 1; nil if the total is unknown. The value 1 means that the transfer is complete.
  var fraction: Double? {
    if phase == .done { return 1 }
    guard let total else { return nil }
    guard total > 0 else { return 0 }
    return min(max(0, Double(bytes) / Double(total)), 0.999)
  }

  /// The completed share in percent, rounded down; nil if the total is unknown. The value 100 means that the transfer
  /// is complete.
  var percent: Int? { fraction.map { Int($0 * 100) } }
}
