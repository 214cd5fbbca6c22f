import Foundation

/// The peak resident memory of this process.
package enum PeakMemory {
  /// In KiB. On Linux this does not use `getrusage`, whose value includes the memory of the parent process.
  package static var kibibytes: Int {
    get throws {
      #if os(Linux)
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
      #else
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return usage.ru_maxrss / 1_024
      #endif
    }
  }
}
