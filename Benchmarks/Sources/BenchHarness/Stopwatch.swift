import Foundation

/// Measures wall clock and CPU time (user and system, all threads of the process) from its creation.
package struct Stopwatch {
  private let wall = Stopwatch.wallMicroseconds()
  private let cpu = Stopwatch.cpuMicroseconds()

  /// Starts immediately.
  package init() {}

  /// The time since the start, divided by `requests`.
  package func result(of requests: Int, name: String) -> BenchmarkResult {
    let wall = Stopwatch.wallMicroseconds() - wall
    let cpu = Stopwatch.cpuMicroseconds() - cpu
    return BenchmarkResult(
      name: name,
      requests: requests,
      cpuMicroseconds: cpu / Double(requests),
      wallMicroseconds: wall / Double(requests)
    )
  }

  /// The time since the start, for one file of `bytes` bytes.
  package func result(ofFile bytes: Int, idle: Int, name: String) throws -> TransferResult {
    let wall = Stopwatch.wallMicroseconds() - wall
    let cpu = Stopwatch.cpuMicroseconds() - cpu
    return TransferResult(
      name: name, bytes: bytes, cpuMicroseconds: cpu, wallMicroseconds: wall, idleKibibytes: idle,
      peakKibibytes: try PeakMemory.kibibytes)
  }

  /// RUSAGE_SELF is an enumeration in glibc and a number elsewhere; its value is zero in both.
  private static let thisProcess: Int32 = 0

  private static func wallMicroseconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) * 1e6 + Double(now.tv_nsec) / 1e3
  }

  private static func cpuMicroseconds() -> Double {
    var usage = rusage()
    getrusage(thisProcess, &usage)
    return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
  }

  private static func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
}
