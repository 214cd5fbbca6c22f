#if TSAN
  import Foundation

  /// The lock that `Locked` uses in builds for the thread sanitizer.
  @usableFromInline
  final class PthreadLocked<Value: Sendable>: @unchecked Sendable {  // every access to `value` holds `lock`
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value
    /// Keeps a value without a size, such as `()`, from having the address of another variable. The sanitizer would
    /// report accesses to both as a race.
    private let padding: UInt8 = 0

    @usableFromInline init(_ value: Value) {
      self.value = value
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
      return try body(&value)
    }
  }
#endif
