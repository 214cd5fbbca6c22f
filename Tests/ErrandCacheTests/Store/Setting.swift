import Foundation

/// The amount of work of the long tests: small by default, more if an environment variable is set.
///
/// `ERRAND_CACHE_KILLS` is the number of killed processes, `ERRAND_CACHE_SECONDS` the duration of the test with two
/// processes, `ERRAND_CACHE_DAMAGES` the number of damaged folders.
enum Setting {
  static func number(_ name: String, _ otherwise: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? otherwise
  }
}
