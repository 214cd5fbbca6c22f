import BenchHarness
import Errand
import Foundation
import Synchronization

/// The memory of calls that wait for their response at the same time. The server responds when all of them wait.
enum HeldBenchmark {
  /// Whether the server has sent a response.
  private final class Answer: Sendable {
    private let hasArrived = Atomic(false)
    var isThere: Bool { hasArrived.load(ordering: .relaxed) }
    func arrive() { hasArrived.store(true, ordering: .relaxed) }
  }

  /// A GET that may wait for long.
  struct Request: APIRequest {
    let url: String
    var path: Path { RequestPath(url) }
    var timeouts: Timeouts { Timeouts(connect: .never, idle: .never, total: .never) }
  }

  /// The number of calls that begin at once if there is a pause between them.
  private static let groupSize = 100
  /// The pause between groups. Connections that open at the same time need more memory.
  private static let pause = Duration.milliseconds(
    ProcessInfo.processInfo.environment["ERRAND_PAUSE"].flatMap { Int($0) } ?? 0)

  /// Sends the calls, and prints the memory that each needs. The warm-up is one call.
  static func run(
    _ benchmark: Benchmark, _ send: @escaping @Sendable () async throws -> Int
  ) async throws -> Never {
    guard try await send() > 0 else { throw CocoaError(.fileReadCorruptFile) }
    let idle = try PeakMemory.current
    let answer = Answer()
    let held = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<benchmark.count {
        if number % groupSize == 0 { try await Task.sleep(for: pause) }
        group.addTask {
          let count = try await send()
          answer.arrive()
          return count
        }
      }
      var last = idle
      while !answer.isThere {
        let now = try PeakMemory.current
        if !answer.isThere { last = now }
        try await Task.sleep(for: .milliseconds(100))
      }
      for try await count in group where count <= 0 { throw CocoaError(.fileReadCorruptFile) }
      return last
    }
    let bytes = (held - idle) * 1024 / benchmark.count
    print(#"{"name":"errand-\#(benchmark.mode)","calls":\#(benchmark.count),"bytes_per_call":\#(bytes)}"#)
    exit(0)
  }
}
