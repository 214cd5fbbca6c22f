/// Adds the rate and the remaining time to progress reports. The type reads no clock: the caller passes the time.
struct ProgressMeter: Sendable {
  private struct Track: Sendable {
    var bytes: Int64
    var meter: RateMeter
  }

  private let start: MonotonicInstant
  private var upload: Track?
  private var download: Track?

  init(start: MonotonicInstant) { self.start = start }

  /// Returns a copy of a progress report with the measured rate and the remaining time. If a report has fewer bytes
  /// than the report before, the transfer has started again. In this case, the measurement also starts again.
  mutating func measured(_ progress: TransferProgress, at now: MonotonicInstant) -> TransferProgress {
    var progress = progress
    var track = (progress.direction == .upload ? upload : download) ?? Track(bytes: 0, meter: RateMeter(start: start))
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
