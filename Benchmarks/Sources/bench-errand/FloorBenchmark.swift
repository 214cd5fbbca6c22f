import BenchHarness
import Foundation
import Synchronization

/// What the system and the language take for the steps that some goals are about, with none of our work in them.
enum FloorBenchmark {
  /// A thread that sleeps until somebody waits, and wakes them.
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

  /// To another thread and back, one after the other: the way of a read of the disk.
  nonisolated(nonsending) static func hop(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    let waker = Waker()
    waker.start()
    return try await benchmark.sequential {
      await withUnsafeContinuation { waker.wait($0) }
      return 1
    }
  }

  /// A task that suspends once and is waited for, 64 at a time: what a shared exchange is at the least.
  static func task(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await benchmark.parallel {
      await Task.immediate {
        await Task.yield()
        return 1
      }.value
    }
  }
}
