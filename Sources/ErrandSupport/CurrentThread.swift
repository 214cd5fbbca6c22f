#if canImport(Darwin)
  import Darwin

  /// A number of the present thread, which no other living thread has.
  package var currentThread: UInt { UInt(bitPattern: pthread_self()) }
#elseif canImport(Glibc)
  import Glibc

  /// A number of the present thread, which no other living thread has.
  package var currentThread: UInt { UInt(pthread_self()) }
#elseif canImport(Musl)
  import Musl

  /// A number of the present thread, which no other living thread has.
  package var currentThread: UInt { UInt(bitPattern: pthread_self()) }
#endif
