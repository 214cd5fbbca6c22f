import BenchHarness
import Foundation

/// One thing that is done with a text, and the least of CPU time that it took.
struct JSONMeasure {
  /// What text and what is done with it, such as `10k-own`.
  let name: String
  private let times: Int
  private let operation: () throws -> Int
  private(set) var microseconds = Double.infinity

  /// - Parameters:
  ///   - text: What is read; the shorter it is, the more often in one round.
  ///   - operation: Gives a number above zero, so that nothing of it can be left out.
  init(_ name: String, of text: Data, _ operation: @escaping (Data) throws -> Int) {
    self.name = name
    times = max((1 << 20) / text.count, 1)
    self.operation = { try operation(text) }
  }

  /// One round.
  mutating func run() throws {
    let clock = Stopwatch()
    for _ in 0..<times where try operation() <= 0 { throw NothingRead(name: name) }
    microseconds = min(microseconds, clock.result(of: times, name: name).cpuMicroseconds)
  }

  private struct NothingRead: Error { let name: String }
}
