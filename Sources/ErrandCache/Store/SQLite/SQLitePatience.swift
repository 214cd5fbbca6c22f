import CSQLite
import ErrandCore
import Foundation

/// Decides how long a SQL statement waits for another process: at most five seconds, or less if other jobs wait for the
/// store's thread.
final class SQLitePatience {
  /// The minimum time that a statement waits for another process, even if other jobs wait for the store's thread.
  var least = Duration.zero
  /// The maximum time that a statement waits for another process.
  var most = SQLitePatience.longest
  static let longest = Duration.seconds(5)
  private let gives: () -> Bool
  private var began = MonotonicInstant(nanoseconds: 0)

  init(gives up: @escaping () -> Bool) { gives = up }

  private func waitsOn(_ round: Int32) -> Bool {
    if round == 0 { began = .now }
    let waited = began.duration(to: .now)
    guard waited < most, waited < least || !gives() else { return false }
    usleep(round < 5 ? 200 : 1_000)
    return true
  }

  /// The function that SQLite calls while another process holds a lock. If it returns zero, SQLite stops waiting.
  static let handler: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { context, round in
    guard let context else { return 0 }
    return Unmanaged<SQLitePatience>.fromOpaque(context).takeUnretainedValue().waitsOn(round) ? 1 : 0
  }
}
