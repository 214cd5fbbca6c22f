import CSQLite
import ErrandCore
import Foundation

/// The time that a statement waits for another process: at most five seconds, or less if other jobs wait for this
/// thread.
final class SQLitePatience {
  /// The shortest wait, even if other jobs wait for this thread.
  var least = Duration.zero
  /// The longest wait.
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

  /// The function that SQLite calls while another process holds a lock. Zero ends the wait.
  static let handler: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { context, round in
    guard let context else { return 0 }
    return Unmanaged<SQLitePatience>.fromOpaque(context).takeUnretainedValue().waitsOn(round) ? 1 : 0
  }
}
