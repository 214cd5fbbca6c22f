package import Foundation

/// One run of a client: the mode, the address and the number of requests. Read from `MODE URL COUNT`, or for the
/// transfer of one file from `MODE URL BYTES FILE`.
package struct Benchmark: Sendable {
  /// The number of requests in flight in the parallel modes.
  package static let inFlight = 64
  /// The number of requests before the clock starts, so that connections are open and caches are warm.
  package static let warmUp = 500

  /// The name of the program, which is the first part of the result's name.
  package let client: String
  /// The measurement to run. Each program has its own modes.
  package let mode: String
  /// The address of the server, or of a file for the modes that only decode.
  package let url: String
  /// The number of measured requests; for a transfer, the number of bytes.
  package let count: Int
  /// The file that is downloaded to or uploaded; nil except for transfers.
  package let file: URL?

  /// Reads the command line. Exits with status 64 if it is invalid.
  package init(client: String, arguments: [String] = CommandLine.arguments) {
    guard (4...5).contains(arguments.count), let count = Int(arguments[3]), count > 0 else {
      Benchmark.fail("usage: bench-\(client) MODE URL COUNT [FILE]", status: 64)
    }
    self.client = client
    self.mode = arguments[1]
    self.url = arguments[2]
    self.count = count
    self.file = arguments.count == 5 ? URL(filePath: arguments[4]) : nil
  }

  /// Measures `operation` sequentially on the caller's actor. Call it in a detached task or on the main actor.
  package nonisolated(nonsending) func sequential(
    _ operation: nonisolated(nonsending) () async throws -> Int
  ) async throws -> BenchmarkResult {
    try await Benchmark.loop(Benchmark.warmUp, operation)
    let clock = Stopwatch()
    try await Benchmark.loop(count, operation)
    return clock.result(of: count, name: "\(client)-\(mode)")
  }

  /// Measures `operation`, which is a group of requests, sequentially. The result is per request.
  package nonisolated(nonsending) func sequential(
    inGroupsOf size: Int, _ operation: nonisolated(nonsending) () async throws -> Int
  ) async throws -> BenchmarkResult {
    try await Benchmark.loop(Benchmark.warmUp / size, operation)
    let clock = Stopwatch()
    try await Benchmark.loop(count / size, operation)
    return clock.result(of: count, name: "\(client)-\(mode)")
  }

  /// Measures `big`, the transfer of one file of `count` bytes, after `small`, the transfer of a few bytes.
  @concurrent package func transfer(
    small: @escaping @Sendable () async throws -> Int, big: @escaping @Sendable () async throws -> Int
  ) async throws -> TransferResult {
    guard try await small() > 0 else { throw EmptyBody() }
    let idle = try PeakMemory.kibibytes
    let clock = Stopwatch()
    guard try await big() == count else { throw OtherLength() }
    return try clock.result(ofFile: count, idle: idle, name: "\(client)-\(mode)")
  }

  /// Measures `operation` with 64 in flight, each in a task that lives for the whole run.
  @concurrent package func parallel(
    _ operation: @escaping @Sendable () async throws -> Int
  ) async throws -> BenchmarkResult {
    try await Benchmark.loops(Benchmark.warmUp, operation)
    let clock = Stopwatch()
    try await Benchmark.loops(count, operation)
    return clock.result(of: count, name: "\(client)-\(mode)")
  }

  /// Prints the result as one JSON line, or the error, and exits.
  package func finish(_ result: Result<BenchmarkResult, any Error>) -> Never {
    switch result {
    case .success(let value):
      print(value.line)
      exit(0)
    case .failure(let error):
      Benchmark.fail("bench-\(client): \(mode): \(error)", status: 1)
    }
  }

  /// Prints the result of the transfer of one file, or the error, and exits.
  package func finish(_ result: Result<TransferResult, any Error>) -> Never {
    switch result {
    case .success(let value):
      print(value.line)
      exit(0)
    case .failure(let error):
      Benchmark.fail("bench-\(client): \(mode): \(error)", status: 1)
    }
  }

  /// Prints a message to standard error and exits.
  package static func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(status)
  }

  private nonisolated(nonsending) static func loop(
    _ count: Int, _ operation: nonisolated(nonsending) () async throws -> Int
  ) async throws {
    for _ in 0..<count where try await operation() <= 0 { throw EmptyBody() }
  }

  private static func loops(_ count: Int, _ operation: @escaping @Sendable () async throws -> Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<inFlight {
        let share = count / inFlight + (worker < count % inFlight ? 1 : 0)
        group.addTask { try await loop(share, operation) }
      }
      try await group.waitForAll()
    }
  }
}

/// The response had no body, so the measurement is invalid.
struct EmptyBody: Error {}

/// The file does not have the requested length.
struct OtherLength: Error {}
