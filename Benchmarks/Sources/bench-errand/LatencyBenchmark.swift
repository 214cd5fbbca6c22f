import BenchHarness
import Errand
import ErrandHTTP
import Foundation
import Synchronization

/// How long small calls wait, with 64 in flight, alone or while large response bodies arrive at the same transport.
/// `ERRAND_STREAM` is the address of the large body. It should be at another server, because a server may send small
/// responses late while it sends a large one.
struct LatencyBenchmark: Sendable {
  /// Drops bodies and counts their bytes.
  private final class Sink: BodySink {
    private let count = Atomic(0)
    var bytes: Int { count.load(ordering: .relaxed) }

    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) -> Bool {
      count.add(piece.count, ordering: .relaxed)
      return true
    }
    func end() {}
  }

  private let benchmark: Benchmark
  private let transport: any Transport

  init(_ benchmark: Benchmark, _ transport: any Transport) {
    self.benchmark = benchmark
    self.transport = transport
  }

  /// Prints the median, the 99th percentile and the maximum in microseconds.
  func run() async throws -> Never {
    _ = try await waits(500)
    let sink = Sink()
    let download = benchmark.mode.hasPrefix("beside") ? Task { try await downloadRepeatedly(into: sink) } : nil
    let begun = ContinuousClock.now
    let sorted = try await waits(benchmark.count).sorted()
    let seconds = (ContinuousClock.now - begun) / .seconds(1)
    let bytes = sink.bytes
    download?.cancel()
    func share(_ part: Double) -> Int { sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))] }
    print(
      #"{"name":"errand-\#(benchmark.mode)","calls":\#(sorted.count),"p50_us":\#(share(0.5)),"p99_us":\#(share(0.99)),"#
        + #""max_us":\#(share(1)),"calls_per_second":\#(Int(Double(sorted.count) / seconds)),"#
        + #""mib_per_second":\#(Int(Double(bytes >> 20) / seconds))}"#)
    exit(0)
  }

  /// The waiting times of small calls in microseconds.
  private func waits(_ count: Int) async throws -> [Int] {
    let request = try HTTPRequest(url: benchmark.url)
    return try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<Benchmark.inFlight {
        group.addTask {
          var waits: [Int] = []
          for _ in 0..<(count / Benchmark.inFlight) {
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

  /// Receives one large body after another until the task is cancelled.
  private func downloadRepeatedly(into sink: Sink) async throws {
    let url = ProcessInfo.processInfo.environment["ERRAND_STREAM"]
    let request = try HTTPRequest(url: url ?? HTTPURL(benchmark.url).origin.description + "/stream")
    while !Task.isCancelled { _ = try await transport.send(Exchange(request: request, sink: sink)) }
  }
}
