#if canImport(Darwin)
  import Darwin

  /// A number that identifies the current thread among all running threads.
  package var currentThread: UInt { UInt(bitPattern: pthread_self()) }
#elseif canImport(Glibc)
  import Glibc

  /// A number that identifies the current thread among all running threads.
  package var currentThread: UInt { UInt(pthread_self()) }
#elseif canImport(Musl)
  import Musl

  /// A number that identifies the current thread among all running threads.
  package var currentThread: UInt { UInt(bitPattern: pthread_self()) }
#endif
