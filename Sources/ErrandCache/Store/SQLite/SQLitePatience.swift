import CSQLite
import ErrandCore
import Foundation

/// How long a statement waits for another process: up to five seconds, and shorter where somebody waits for us.
final class SQLitePatience {
  /// However many wait for us, a wait is not given up before.
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

  /// What SQLite calls.
  static let handler: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { context, round in
    guard let context else { return 0 }
    return Unmanaged<SQLitePatience>.fromOpaque(context).takeUnretainedValue().waitsOn(round) ? 1 : 0
  }
}
