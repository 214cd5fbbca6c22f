#if TSAN
  import Foundation

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
