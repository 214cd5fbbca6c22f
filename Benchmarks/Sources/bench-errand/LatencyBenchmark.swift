import BenchHarness
import Errand
import ErrandHTTP
import Foundation
import Synchronization

/// How long small calls wait, with 64 in flight, alone or while one large response body arrives at the same transport.
/// `ERRAND_STREAM` is the address of the large body. It should be at another server, because a server may send small
/// responses late while it sends a large one.
struct LatencyBenchmark: Sendable {
  /// Whether the large body has arrived.
  private static let hasArrived = Atomic(false)

  private let benchmark: Benchmark
  private let transport: any Transport
  private let body: LargeBody?

  init(_ benchmark: Benchmark, _ client: APIClient, _ transport: any Transport) {
    self.benchmark = benchmark
    self.transport = transport
    let url = ProcessInfo.processInfo.environment["ERRAND_STREAM"] ?? benchmark.url
    body =
      switch benchmark.mode {
      case "beside-file": .file(url, by: client)
      case "beside-slow": .dropped(url, over: transport, slowly: true)
      case let mode where mode.hasPrefix("beside"): .dropped(url, over: transport)
      default: nil
      }
  }

  /// Prints the median, the 99th percentile and the maximum in microseconds.
  func run() async throws -> Never {
    _ = try await waits { $0 < Benchmark.warmUp / Benchmark.inFlight }
    let begun = ContinuousClock.now
    async let bytes = largeBody()
    let share = benchmark.count / Benchmark.inFlight
    let isAlone = body == nil
    let sorted = try await waits { isAlone ? $0 < share : !Self.hasArrived.load(ordering: .relaxed) }.sorted()
    let seconds = (ContinuousClock.now - begun) / .seconds(1)
    let mebibytes = try await Double(bytes >> 20)
    func wait(_ part: Double) -> Int { sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))] }
    print(
      #"{"name":"errand-\#(benchmark.mode)","calls":\#(sorted.count),"p50_us":\#(wait(0.5)),"p99_us":\#(wait(0.99)),"#
        + #""max_us":\#(wait(1)),"calls_per_second":\#(Int(Double(sorted.count) / seconds)),"#
        + #""mib_per_second":\#(Int(mebibytes / seconds))}"#)
    exit(0)
  }

  private func largeBody() async throws -> Int {
    defer { Self.hasArrived.store(true, ordering: .relaxed) }
    return try await body?.receive() ?? 0
  }

  /// The waiting times of small calls in microseconds. `goesOn` receives the number of calls that a worker has made.
  private func waits(_ goesOn: @escaping @Sendable (Int) -> Bool) async throws -> [Int] {
    let request = try HTTPRequest(url: benchmark.url)
    return try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<Benchmark.inFlight {
        group.addTask {
          var waits: [Int] = []
          while goesOn(waits.count) {
            let begun = ContinuousClock.now
            _ = try await transport.send(Exchange(request: request))
            waits.append(Int((ContinuousClock.now - begun) / .microseconds(1)))
          }
          return waits
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}
