import ErrandCore

/// The limits of speed that one download keeps to: its own, and one that it shares with others.
struct DownloadThrottle: Sendable {
  private var own: RateLimiter?
  private let shared: Bandwidth?
  private var holdsUntil: MonotonicInstant?

  init(_ download: Download, at now: MonotonicInstant) {
    own = download.bytesPerSecond.map { RateLimiter($0, at: now) }
    shared = download.bandwidth
  }

  /// Counts bytes that have come; gives the time to pause, nil for none.
  mutating func take(_ count: Int64, at now: MonotonicInstant) -> Duration? {
    let pauses = [own?.take(count, at: now), shared?.take(count, at: now)].compactMap(\.self)
    guard let pause = pauses.max() else { return nil }
    holdsUntil = now.advanced(by: pause)
    return pause
  }

  /// Whether a pause is not over yet.
  func isHolding(at now: MonotonicInstant) -> Bool { holdsUntil.map { now < $0 } ?? false }
}
