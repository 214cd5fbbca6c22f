#if !TSAN
  public import Synchronization
#endif

/// A value behind a lock: the one way this package shares mutable state. Not for users: no product hands it on.
///
/// No I/O and no callback runs under the lock. In builds for the thread sanitizer (`-DTSAN`) the lock is a
/// `pthread` mutex, since that sanitizer does not see `Synchronization.Mutex` on Linux.
///
/// Public and inlinable, since only such generic code is specialised in other modules; a lock that is not costs three
/// times as much.
@frozen public struct Locked<Value: Sendable>: ~Copyable, Sendable {
  #if TSAN
    @usableFromInline let mutex: PthreadLocked<Value>
  #else
    @usableFromInline let mutex: Mutex<Value>
  #endif

  /// Puts a value behind a lock.
  @inlinable public init(_ value: Value) {
    mutex = .init(value)
  }

  /// Runs `body` with the value, alone.
  ///
  /// Never drawn into its caller. The system's lock asks on which thread it is, and in an optimised asynchronous function
  /// the compiler keeps that answer over a suspension, behind which another thread goes on (Swift 6.3 on Linux): the
  /// lock would be taken in the name of the one and given back in that of the other, which ends the process.
  @discardableResult
  @inlinable @inline(never) public borrowing func withLock<Result: Sendable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock { value throws(Failure) in try body(&value) }
  }
}
