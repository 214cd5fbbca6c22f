#if os(Linux)
  import Synchronization

  /// A number that many tasks increase.
  final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Adds to the number. Returns the new number.
    @discardableResult
    func add(_ more: Int = 1) -> Int { count.wrappingAdd(more, ordering: .relaxed).newValue }
  }
#endif
