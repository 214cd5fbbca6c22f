import Foundation

/// Adds the rate and the remaining time to progress reports. The type reads no clock: the caller passes the time.
struct ProgressMeter: Sendable {
  private struct Track: Sendable {
    var bytes: Int64
    var meter: RateMeter
  }

  private var upload: Track?
  private var download: Track?

  /// Returns a copy of a progress report with the measured rate and the remaining time. If a report has fewer bytes
  /// than the report before, the transfer has started again. In this case, the measurement also starts again.
  ///
  /// The measurement of a direction starts with its first report. In the time before, the call waited for a slot, a
  /// connection, the end of its upload or the response, which does not show the speed of the transfer.
  mutating func measured(_ progress: TransferProgress, at now: MonotonicInstant) -> TransferProgress {
    var progress = progress
    let known = progress.direction == .upload ? upload : download
    var track = known ?? Track(bytes: progress.bytes, meter: RateMeter(start: now))
    if progress.isRestart || progress.bytes < track.bytes {
      progress.isRestart = true
      track.meter.restart(at: now)
    } else {
      track.meter.add(progress.bytes - track.bytes, at: now)
    }
    track.bytes = progress.bytes
    progress.rate = track.meter.rate(at: now)
    let rest = progress.total.map { max($0 - progress.bytes, 0) }
    progress.timeLeft = rest.flatMap { track.meter.timeLeft(for: $0, at: now) }
    if progress.direction == .upload { upload = track } else { download = track }
    return progress
  }
}

/// The smoothed rate of the bytes of a transfer. The rate is a weighted mean: a value that is three seconds old has e⁻¹
/// (about a third) of the weight of a new value. Time without bytes lowers the rate. The type reads no clock: the
/// caller passes the time.
struct RateMeter: Sendable {
  /// The time in seconds after which a value has e⁻¹ of its initial weight.
  private static let memory = 3.0
  /// The shortest measured interval in seconds. Shorter intervals are merged, because their rates show the buffers of
  /// the system and not the speed of the connection.
  private static let interval = 0.1

  private var last: MonotonicInstant
  private var pending: Int64 = 0
  /// The weighted sum of the rates in bytes per second, not yet divided by `weight`.
  private var sum = 0.0
  /// The total weight of all values so far, which approaches 1. The sum is divided by the weight. Without this
  /// division, the first rates would be too low.
  private var weight = 0.0

  init(start: MonotonicInstant) { last = start }

  /// Counts the bytes that have arrived since the last call.
  mutating func add(_ bytes: Int64, at now: MonotonicInstant) {
    pending = pending.saturatingSum(max(bytes, 0))
    let elapsed = seconds(to: now)
    guard elapsed >= Self.interval else { return }
    (sum, weight) = counted(elapsed)
    pending = 0
    last = now
  }

  /// Starts the measurement again, so that a pause does not lower the rate of the bytes that arrive after the pause.
  mutating func restart(at now: MonotonicInstant) { self = RateMeter(start: now) }

  /// The rate in bytes per second; nil until the first interval of 0.1 seconds has passed.
  func rate(at now: MonotonicInstant) -> Double? {
    let elapsed = seconds(to: now)
    let (sum, weight) = elapsed >= Self.interval ? counted(elapsed) : (sum, weight)
    return weight > 0 ? sum / weight : nil
  }

  /// The time that the given bytes take at the current rate; nil if the time is unknown or longer than a hundred days.
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
