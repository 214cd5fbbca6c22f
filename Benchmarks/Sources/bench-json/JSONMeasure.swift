import BenchHarness
import Foundation

/// One operation on a text, and the least CPU time that it took.
struct JSONMeasure {
  /// The text and the operation, such as `10k-own`.
  let name: String
  private let times: Int
  private let operation: () throws -> Int
  private(set) var microseconds = Double.infinity

  /// - Parameters:
  ///   - text: The text to read. A shorter text is read more often in one round.
  ///   - operation: Returns a number above zero, so that the optimiser cannot remove it.
  init(_ name: String, of text: Data, _ operation: @escaping (Data) throws -> Int) {
    self.name = name
    times = max((1 << 20) / text.count, 1)
    self.operation = { try operation(text) }
  }

  /// Runs one round.
  mutating func run() throws {
    let clock = Stopwatch()
    for _ in 0..<times where try operation() <= 0 { throw NothingRead(name: name) }
    microseconds = min(microseconds, clock.result(of: times, name: name).cpuMicroseconds)
  }

  private struct NothingRead: Error { let name: String }
}
