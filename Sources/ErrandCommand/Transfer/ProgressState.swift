/// One transfer as it stands, ready to be drawn.
struct ProgressState: Sendable, Equatable {
  /// What a transfer is doing.
  enum Phase: Sendable, Equatable {
    /// It waits for its turn.
    case waiting
    /// Bytes come or go.
    case running
    /// It is whole, and where it belongs.
    case done
    /// It was ended before, on purpose; with what was kept of it, or the like.
    case stopped(String)
    /// It failed; with the reason.
    case failed(String)
  }

  /// The name people know it by, as it came: it is made harmless where it is drawn.
  var name: String
  /// What it is doing.
  var phase = Phase.running
  /// How many bytes it has.
  var bytes: Int64 = 0
  /// How many of them were there before it was begun.
  var kept: Int64 = 0
  /// How many it will have, if known.
  var total: Int64?
  /// Bytes a second, if there is something to go by.
  var rate: Double?
  /// How long it will take, if there is something to go by.
  var timeLeft: Duration?
  /// How long it has taken so far.
  var elapsed: Duration?

  /// More words for the end of one that is done.
  var note: String?

  /// Whether nothing more comes of it.
  var isOver: Bool {
    switch phase {
    case .waiting, .running: false
    case .done, .stopped, .failed: true
    }
  }

  /// The share that is there, 0 to 1; nil where the total is unknown. 1 only when it is done.
  var fraction: Double? {
    if phase == .done { return 1 }
    guard let total else { return nil }
    guard total > 0 else { return 0 }
    return min(max(0, Double(bytes) / Double(total)), 0.999)
  }

  /// The share in whole hundredths, rounded down; 100 only when it is done.
  var percent: Int? { fraction.map { Int($0 * 100) } }
}
