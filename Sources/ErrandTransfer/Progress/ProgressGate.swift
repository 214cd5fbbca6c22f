package import ErrandCore

/// Lets reports through: at most one every 50 ms, and the last one; never fewer bytes than before but at a restart, which
/// is told at once. Told moments; reads no clock.
package struct ProgressGate: Sendable {
  /// The time between two reports.
  package static let interval = Duration.milliseconds(50)

  private var meter: RateMeter
  private var total: Int64?
  private var bytes: Int64
  private var next: MonotonicInstant
  private var isOver = false

  /// Begins.
  /// - Parameters:
  ///   - bytes: The bytes that are there from earlier tries; they do not count as fast ones.
  ///   - total: The bytes in all, where they are known.
  ///   - start: The present.
  package init(bytes: Int64 = 0, total: Int64? = nil, start: MonotonicInstant) {
    meter = RateMeter(start: start)
    self.total = total
    self.bytes = max(bytes, 0)
    next = start
  }

  /// Takes what has come; gives a report where one is due.
  package mutating func advance(to bytes: Int64, total: Int64?, at now: MonotonicInstant) -> ProgressReading? {
    guard !isOver else { return nil }
    count(bytes, total, now)
    guard now >= next else { return nil }
    next = now.advanced(by: Self.interval)
    return reading(now)
  }

  /// Begins anew at fewer bytes, or goes on after a pause; always gives a report.
  package mutating func restart(at bytes: Int64, total: Int64?, at now: MonotonicInstant) -> ProgressReading? {
    guard !isOver else { return nil }
    meter.restart(at: now)
    self.bytes = max(bytes, 0)
    self.total = total
    next = now.advanced(by: Self.interval)
    return reading(now, isRestart: true)
  }

  /// The last report, whatever the time: of a file that has its name, or of a transfer that stops. Nil after that.
  package mutating func finish(
    at bytes: Int64, total: Int64?, isWhole: Bool, at now: MonotonicInstant
  ) -> ProgressReading? {
    guard !isOver else { return nil }
    count(bytes, total, now)
    isOver = true
    return reading(now, isFinished: isWhole)
  }

  private mutating func count(_ bytes: Int64, _ total: Int64?, _ now: MonotonicInstant) {
    let more = max(bytes, self.bytes) - self.bytes
    self.bytes += more
    self.total = total ?? self.total
    meter.add(more, at: now)
  }

  private func reading(
    _ now: MonotonicInstant, isRestart: Bool = false, isFinished: Bool = false
  ) -> ProgressReading {
    let rest = total.map { max($0 - bytes, 0) }
    return ProgressReading(
      bytes: bytes, total: total, rate: meter.rate(at: now),
      timeLeft: rest.flatMap { meter.timeLeft(for: $0, at: now) }, isRestart: isRestart, isFinished: isFinished)
  }
}
