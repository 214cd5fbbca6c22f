import Foundation

/// The resources that the transfer of one large file used.
package struct TransferResult: Sendable {
  /// Client and mode, such as `errand-download`.
  package let name: String
  /// The length of the file.
  package let bytes: Int
  /// CPU time of the process, user and system, in microseconds.
  package let cpuMicroseconds: Double
  /// Wall clock time in microseconds.
  package let wallMicroseconds: Double
  /// The peak memory after a small file, in KiB.
  package let idleKibibytes: Int
  /// The peak memory at the end, in KiB.
  package let peakKibibytes: Int

  /// The line that the driver reads. `bench-curl` prints the same format.
  package var line: String {
    String(
      format: """
        {"name":"%@","bytes":%d,"cpu_us":%.0f,"wall_us":%.0f,"idle_kib":%d,"peak_kib":%d}
        """,
      name, bytes, cpuMicroseconds, wallMicroseconds, idleKibibytes, peakKibibytes)
  }
}
