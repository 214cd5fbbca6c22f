import Foundation

/// The most memory of this process that was resident at once.
package enum PeakMemory {
  /// In KiB. On Linux not by `getrusage`, whose figure begins with that of the process that started this one.
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
