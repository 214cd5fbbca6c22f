package import Foundation

/// One run of a client: what to do, against which address, how often. Read from `MODE URL COUNT`, or for the transfer of
/// one file from `MODE URL BYTES FILE`.
package struct Benchmark: Sendable {
  /// How many requests are in flight in the parallel modes.
  package static let inFlight = 64
  /// How many requests go before the clock starts: connections are open and caches warm by then.
  package static let warmUp = 500

  /// The name of the program, first part of the result's name.
  package let client: String
  /// What to measure; each program knows its own.
  package let mode: String
  /// The address of the server, or of a file for the modes that only decode.
  package let url: String
  /// How many requests are measured; for a transfer, how many bytes.
  package let count: Int
  /// Where a fetched file goes, or what is sent; nil for all but transfers.
  package let file: URL?

  /// Reads the command line; ends the program with status 64 when it is wrong.
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

  /// Measures `operation`, one after the other on the caller's actor: start it in a detached task, or on the main actor.
  package nonisolated(nonsending) func sequential(
    _ operation: nonisolated(nonsending) () async throws -> Int
  ) async throws -> BenchmarkResult {
    try await Benchmark.loop(Benchmark.warmUp, operation)
    let clock = Stopwatch()
    try await Benchmark.loop(count, operation)
    return clock.result(of: count, name: "\(client)-\(mode)")
  }

  /// The same where `operation` is a group of requests; what is measured counts for each of them.
  package nonisolated(nonsending) func sequential(
    inGroupsOf size: Int, _ operation: nonisolated(nonsending) () async throws -> Int
  ) async throws -> BenchmarkResult {
    try await Benchmark.loop(Benchmark.warmUp / size, operation)
    let clock = Stopwatch()
    try await Benchmark.loop(count / size, operation)
    return clock.result(of: count, name: "\(client)-\(mode)")
  }

  /// Measures `big`, the transfer of one file of `count` bytes; `small`, one of a few bytes, goes before.
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

  /// Prints the result as one JSON line, or the error, and ends the program.
  package func finish(_ result: Result<BenchmarkResult, any Error>) -> Never {
    switch result {
    case .success(let value):
      print(value.line)
      exit(0)
    case .failure(let error):
      Benchmark.fail("bench-\(client): \(mode): \(error)", status: 1)
    }
  }

  /// The same for the transfer of one file.
  package func finish(_ result: Result<TransferResult, any Error>) -> Never {
    switch result {
    case .success(let value):
      print(value.line)
      exit(0)
    case .failure(let error):
      Benchmark.fail("bench-\(client): \(mode): \(error)", status: 1)
    }
  }

  /// Ends the program with a word on standard error.
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

/// A request came back without a body, so what was measured is not what was meant.
struct EmptyBody: Error {}

/// The file has another length than was asked for.
struct OtherLength: Error {}
