import Synchronization

/// A value behind a lock: the one way this package shares mutable state.
///
/// No I/O and no callback runs under the lock. In builds for the thread sanitizer (`-DTSAN`) the lock is a
/// `pthread` mutex, since that sanitizer does not see `Synchronization.Mutex` on Linux.
package struct Locked<Value: Sendable>: ~Copyable, Sendable {
  #if TSAN
    private let mutex: PthreadLocked<Value>
  #else
    private let mutex: Mutex<Value>
  #endif

  package init(_ value: Value) {
    mutex = .init(value)
  }

  /// Runs `body` with the value, alone.
  @discardableResult
  package borrowing func withLock<Result: Sendable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock { value throws(Failure) in try body(&value) }
  }
}
