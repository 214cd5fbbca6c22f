import Foundation

/// How fast bytes come, smoothed: a mean over time in which what is three seconds old counts a third of what is new
/// (e⁻¹), and in which silence counts as slowness. Told moments; reads no clock.
struct RateMeter: Sendable {
  /// How long until a moment counts e⁻¹ of the present.
  private static let memory = 3.0
  /// Shorter intervals are put together: they say more about the system's buffers than about the line.
  private static let interval = 0.1

  private var last: MonotonicInstant
  private var pending: Int64 = 0
  /// Bytes a second, not yet divided by the weight.
  private var sum = 0.0
  /// What all that was counted weighs: 1 once there has been much of it. Without it the first rates would be too low.
  private var weight = 0.0

  /// Begins to measure.
  init(start: MonotonicInstant) { last = start }

  /// Counts bytes that have come since the last time.
  mutating func add(_ bytes: Int64, at now: MonotonicInstant) {
    let (total, overflow) = pending.addingReportingOverflow(max(bytes, 0))
    pending = overflow ? .max : total
    let elapsed = seconds(to: now)
    guard elapsed >= Self.interval else { return }
    (sum, weight) = counted(elapsed)
    pending = 0
    last = now
  }

  /// Begins to measure anew, for bytes that come after a pause.
  mutating func restart(at now: MonotonicInstant) { self = RateMeter(start: now) }

  /// Bytes a second; nil while too little time has passed to tell.
  func rate(at now: MonotonicInstant) -> Double? {
    let elapsed = seconds(to: now)
    let (sum, weight) = elapsed >= Self.interval ? counted(elapsed) : (sum, weight)
    return weight > 0 ? sum / weight : nil
  }

  /// How long the rest takes at this rate; nil where that cannot be told or is longer than a hundred days.
  func timeLeft(for bytes: Int64, at now: MonotonicInstant) -> Duration? {
    if bytes <= 0 { return .zero }
    guard let rate = rate(at: now), rate > 0 else { return nil }
    let seconds = Double(bytes) / rate
    return seconds < 8_640_000 ? .seconds(seconds) : nil
  }

  private func counted(_ elapsed: Double) -> (sum: Double, weight: Double) {
    let kept = exp(-elapsed / Self.memory)
    let rate = Double(pending) / elapsed
    return (sum * kept + rate * (1 - kept), weight * kept + (1 - kept))
  }

  private func seconds(to now: MonotonicInstant) -> Double {
    Double(max(last.duration(to: now).clampedNanoseconds, 0)) / 1e9
  }
}
