import Errand

extension Wording {
  /// A rate in bytes a second.
  static func rate(_ rate: Double) -> String {
    "\(bytes(Int64(exactly: min(max(0, rate), 1e15).rounded()) ?? 0))/s"
  }

  /// A time to wait as a clock says it, rounded up to seconds: 0:07, 12:30, 3:05:00.
  static func clock(_ duration: Duration) -> String {
    let (whole, rest) = duration.components
    guard whole < 100 * 3_600 else { return "over 99 h" }
    let seconds = max(0, rest > 0 ? whole + 1 : whole)
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    let tail = twoDigits(seconds % 60)
    return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(tail)" : "\(minutes):\(tail)"
  }

  private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
