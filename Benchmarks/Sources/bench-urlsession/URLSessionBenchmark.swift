import BenchHarness
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// bench-urlsession MODE URL COUNT: Foundation's `data(from:)`.
///
///     parallel     64 in flight
///     sequential   one request at a time, from a detached task
@main struct URLSessionBenchmark {
  static func main() async {
    let benchmark = Benchmark(client: "urlsession")
    guard let url = URL(string: benchmark.url) else { Benchmark.fail("not a URL: \(benchmark.url)", status: 64) }
    let session = makeSession()
    let get: @Sendable () async throws -> Int = {
      let (data, response) = try await session.data(from: url)
      return (response as? HTTPURLResponse)?.statusCode == 200 ? data.count : 0
    }
    let task = Task.detached {
      switch benchmark.mode {
      case "parallel": try await benchmark.parallel(get)
      case "sequential": try await benchmark.sequential(get)
      default: Benchmark.fail("bench-urlsession: unknown mode \(benchmark.mode)", status: 64)
      }
    }
    benchmark.finish(await task.result)
  }

  /// Allows one connection for each request in flight, and no cache.
  private static func makeSession() -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = Benchmark.inFlight
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    return URLSession(configuration: configuration)
  }
}
