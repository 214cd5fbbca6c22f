import Foundation

/// How much the long tests do: little in everyday runs, more where the environment says so.
///
/// `ERRAND_CACHE_KILLS` processes killed, `ERRAND_CACHE_SECONDS` of two processes, `ERRAND_CACHE_DAMAGES` folders damaged.
enum Setting {
  static func number(_ name: String, _ otherwise: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? otherwise
  }
}
