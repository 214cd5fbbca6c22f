import BenchHarness
import Errand
import Foundation
import Synchronization

/// Hits in the memory cache, and their lower limit: a URL built by hand and a lookup behind a lock.
enum HitBenchmark {
  /// A typed call within its lifetime: it builds the URL, arguments and headers, derives the key and finds the entry.
  struct KeptAccount: APIRequest {
    let id: Int
    var path: Path { "/200b.json" }
    var arguments: Arguments { ["id": id, "verbose": true, "lang": "en"] }
    var validation: ResponseValidation { ResponseValidation(contentTypes: ["application/json"]) }
    var cache: CachePolicy { .lifetime(.seconds(3600)) }
    typealias Response = Account
  }

  nonisolated(nonsending) static func hits(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    var configuration = ClientConfiguration(baseURL: "http://127.0.0.1")
    configuration.transport = .own(InstantTransport())
    let client = APIClient(configuration)
    return try await benchmark.sequential { try await client.send(KeptAccount(id: 7)).name.utf8.count }
  }

  nonisolated(nonsending) static func floor(_ benchmark: Benchmark) async throws -> BenchmarkResult {
    let known = Mutex<[String: Int]>(["http://127.0.0.1/200b.json?id=7&verbose=true&lang=en": 1])
    return try await benchmark.sequential {
      var components = URLComponents()
      components.scheme = "http"
      components.host = "127.0.0.1"
      components.path = "/200b.json"
      components.queryItems = [
        URLQueryItem(name: "id", value: "7"), URLQueryItem(name: "verbose", value: "true"),
        URLQueryItem(name: "lang", value: "en"),
      ]
      guard let url = components.url else { return 0 }
      return known.withLock { $0[url.absoluteString] ?? 0 }
    }
  }
}
