#if TSAN
  import Foundation
#else
  public import Synchronization
#endif

/// A value that a lock protects. All shared mutable state of this package is in a `Locked`. Only the targets of this
/// package can use this type, because no product exports it.
///
/// Code under the lock must not do I/O or call callbacks. In builds for the thread sanitizer (`-DTSAN`), the lock is a
/// `pthread` mutex, because the sanitizer does not recognise `Synchronization.Mutex` on Linux.
///
/// Other modules can specialise a generic function only if it is inlinable, and public or `@usableFromInline`. A lock
/// that is not specialised takes three times as long. The type is public, which needs no `@usableFromInline` at each
/// member. Users do not see the type, because no product exports it.
@frozen public struct Locked<Value: Sendable>: ~Copyable, Sendable {
  #if TSAN
    @usableFromInline let mutex: PthreadLocked<Value>
  #else
    @usableFromInline let mutex: Mutex<Value>
  #endif

  /// Creates a lock that protects a value.
  @inlinable public init(_ value: Value) {
    mutex = .init(value)
  }

  /// Runs `body` with exclusive access to the value.
  ///
  /// This function must never be inlined. The system's lock stores the identifier of the current thread. If the
  /// function is inlined into an async function, the optimiser (Swift 6.3 on Linux) reuses this identifier after a
  /// suspension point, although the async function may continue on another thread. The lock would then be acquired with
  /// the identifier of one thread and released with that of another, which ends the process.
  @discardableResult
  @inlinable @inline(never) public borrowing func withLock<Result: Sendable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock { value throws(Failure) in try body(&value) }
  }
}

extension Locked where Value == Bool {
  /// Sets the value to true. Returns true if it was false, so that only the first of several callers gets true.
  package borrowing func setOnce() -> Bool {
    withLock { value in
      defer { value = true }
      return !value
    }
  }
}

#if TSAN
  /// The lock that `Locked` uses in builds for the thread sanitizer.
  @usableFromInline
  final class PthreadLocked<Value: Sendable>: @unchecked Sendable {  // every access to `storage` holds `lock`
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var storage: Storage

    /// The value and a byte. Without the byte, a value without a size, such as `()`, has no address of its own, and the
    /// sanitizer reports an access to it and to the beginning of the object as a race.
    private struct Storage {
      var value: Value
      let byte: UInt8 = 0
    }

    @usableFromInline init(_ value: Value) {
      storage = Storage(value: value)
      pthread_mutex_init(lock, nil)
    }

    deinit {
      pthread_mutex_destroy(lock)
      lock.deallocate()
    }

    @usableFromInline func withLock<Result, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      pthread_mutex_lock(lock)
      defer { pthread_mutex_unlock(lock) }
      return try body(&storage.value)
    }
  }
#endif
