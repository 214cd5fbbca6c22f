import BenchHarness
import Errand

/// A hundred small requests at once: as members of one batch, and as separate calls.
struct GroupBenchmark {
  private static let size = 100

  private let client: APIClient
  private let requests: [Bytes]

  init(_ client: APIClient, url: String) {
    self.client = client
    requests = (0..<Self.size).map { Bytes(url: "\(url)?member=\($0)") }
  }

  func batch(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await benchmark.sequential(inGroupsOf: Self.size) { try await client.batch(requests).count }
  }

  func sends(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    try await benchmark.sequential(inGroupsOf: Self.size) {
      try await withThrowingTaskGroup { tasks in
        for request in requests { tasks.addTask { [client] in try await client.send(request).count } }
        return try await tasks.reduce(0, +)
      }
    }
  }
}
