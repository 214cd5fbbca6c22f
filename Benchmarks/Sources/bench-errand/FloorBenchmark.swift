import BenchHarness
import Foundation
import Synchronization

/// The cost of steps in the system and the language to which some goals refer, without any work of this library.
enum FloorBenchmark {
  /// A thread that sleeps until a caller waits, and wakes that caller.
  private final class Waker: Sendable {
    private let waiting = Mutex<[UnsafeContinuation<Void, Never>]>([])
    private let signal = DispatchSemaphore(value: 0)

    func start() {
      Thread.detachNewThread { [self] in
        while true {
          signal.wait()
          for continuation in take() { continuation.resume() }
        }
      }
    }

    private func take() -> [UnsafeContinuation<Void, Never>] {
      waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
    }

    func wait(_ continuation: UnsafeContinuation<Void, Never>) {
      waiting.withLock { $0.append(continuation) }
      signal.signal()
    }
  }

  /// Switches to another thread and back, sequentially, as a read from the disk does.
  nonisolated(nonsending) static func hop(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    let waker = Waker()
    waker.start()
    return try await benchmark.sequential {
      await withUnsafeContinuation { waker.wait($0) }
      return 1
    }
  }

  /// A task that suspends once and is awaited, 64 at a time: the minimum cost of a shared exchange.
  static func task(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await benchmark.parallel {
      await Task.immediate {
        await Task.yield()
        return 1
      }.value
    }
  }
}
