import Foundation

/// The resident memory of this process, in KiB.
package enum PeakMemory {
  /// The highest value so far. On Linux this does not use `getrusage`, whose value includes the memory of the parent
  /// process.
  package static var kibibytes: Int {
    get throws {
      #if os(Linux)
        return try status("VmHWM:")
      #else
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return usage.ru_maxrss / 1_024
      #endif
    }
  }
  #if os(Linux)
    /// The value now.
    package static var current: Int { get throws { try status("VmRSS:") } }

    private static func status(_ name: String) throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
      return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
  #endif
}
