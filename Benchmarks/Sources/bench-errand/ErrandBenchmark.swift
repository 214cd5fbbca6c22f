import BenchHarness
import Foundation

/// bench-errand MODE URL COUNT: this library, and Foundation's decoder alone.
///
///     parallel          `send` with `Response = Data`, 64 in flight
///     sequential        the same, one after the other, from a detached task
///     sequential-main   the same, from the main actor
///     core              a built request handed to the transport, 64 in flight
///     typed             the whole line: URL and 3 headers, status and content check, JSON of 200 B into a struct, 64 in flight
///     typed-10k         JSON of 10 KiB into structs by JSONDecoder, one after the other, from a detached task
///     typed-10k-own     the same by Errand's own decoder
///     decode-200b       JSONDecoder alone; URL is a file
///     decode-10k        JSONDecoder alone; URL is a file
@main struct ErrandBenchmark {
  @MainActor static func main() async {
    let benchmark = Benchmark(client: "errand")
    switch benchmark.mode {
    case "decode-200b", "decode-10k":
      benchmark.finish(await Task.detached { try await decode(benchmark) }.result)
    default:
      Benchmark.fail("bench-errand: mode \(benchmark.mode) is not written yet", status: 3)
    }
  }

  private static func decode(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    guard let url = URL(string: benchmark.url), url.isFileURL else { throw CocoaError(.fileReadInvalidFileName) }
    let body = try Data(contentsOf: url)
    let decoder = JSONDecoder()
    if benchmark.mode == "decode-200b" {
      return try await benchmark.sequential { try decoder.decode(Account.self, from: body).name.utf8.count }
    }
    return try await benchmark.sequential { try decoder.decode([Person].self, from: body).count }
  }
}
