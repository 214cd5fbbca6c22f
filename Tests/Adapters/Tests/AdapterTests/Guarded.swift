import Foundation

/// A value that a lock protects. The lock of the library is in no product.
final class Guarded<Value: Sendable>: @unchecked Sendable {  // every access to `value` holds `lock`
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
