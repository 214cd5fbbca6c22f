/// Adds to reports how fast the bytes come and how long the rest takes. Told moments; reads no clock.
struct ProgressMeter: Sendable {
  private struct Line: Sendable {
    var bytes: Int64
    var meter: RateMeter
  }

  private let start: MonotonicInstant
  private var upload: Line?
  private var download: Line?

  /// Begins to measure.
  init(start: MonotonicInstant) { self.start = start }

  /// The report with what was measured. One with fewer bytes than before is a restart.
  mutating func measured(_ progress: TransferProgress, at now: MonotonicInstant) -> TransferProgress {
    var progress = progress
    var line = (progress.direction == .upload ? upload : download) ?? Line(bytes: 0, meter: RateMeter(start: start))
    if progress.isRestart || progress.bytes < line.bytes {
      progress.isRestart = true
      line.meter.restart(at: now)
    } else {
      line.meter.add(progress.bytes - line.bytes, at: now)
    }
    line.bytes = progress.bytes
    progress.rate = line.meter.rate(at: now)
    let rest = progress.total.map { max($0 - progress.bytes, 0) }
    progress.timeLeft = rest.flatMap { line.meter.timeLeft(for: $0, at: now) }
    if progress.direction == .upload { upload = line } else { download = line }
    return progress
  }
}
