import ErrandHTTP
import ErrandSupport

/// Counts one connection while it is open, by its state, and measures its duration.
final class ConnectionMeter: ConnectionObserver {
  private let recorder: any MetricRecorder
  private let attributes: Attributes
  // Not the clock of the call, because the timers of a transport must not outlive it.
  private let opened = MonotonicInstant.now
  /// The current state. Nil before the first report.
  private let state = Locked<ConnectionState?>(nil)

  /// - Parameter attributes: The server and the scheme of the connection.
  init(_ recorder: any MetricRecorder, _ attributes: Attributes) {
    (self.recorder, self.attributes) = (recorder, attributes)
  }

  func changed(to new: ConnectionState) {
    let old = state.withLock { state in
      defer { state = new }
      return state
    }
    guard old != new else { return }
    if let old { count(-1, old) }
    count(1, new)
    guard new == .closed else { return }
    recorder.record(opened.duration(to: .now) / .seconds(1), .connectionDuration, attributes)
  }

  private func count(_ change: Double, _ state: ConnectionState) {
    guard state != .closed else { return }
    recorder.record(
      change, .openConnections, attributes.merging(["http.connection.state": .string(state.rawValue)]) { $1 })
  }
}
