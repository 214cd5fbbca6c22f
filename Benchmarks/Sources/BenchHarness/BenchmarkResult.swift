import Foundation

/// The resources that one run of a client used, per request.
package struct BenchmarkResult: Sendable {
  /// Client and mode, such as `urlsession-parallel`.
  package let name: String
  /// The number of measured requests.
  package let requests: Int
  /// CPU time of the process per request, user and system, in microseconds.
  package let cpuMicroseconds: Double
  /// Wall clock time per request, in microseconds.
  package let wallMicroseconds: Double

  /// The line that the driver reads. `bench-curl` prints the same format.
  package var line: String {
    String(
      format: """
        {"name":"%@","requests":%d,"cpu_us_per_request":%.3f,"wall_us_per_request":%.3f,"requests_per_second":%.0f}
        """,
      name, requests, cpuMicroseconds, wallMicroseconds, 1e6 / wallMicroseconds)
  }
}
