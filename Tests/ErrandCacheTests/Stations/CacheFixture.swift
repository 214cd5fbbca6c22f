import Errand
import ErrandCache
import ErrandTesting
import Foundation

/// A client with a cache, a scripted server that counts, and clocks that are turned by hand.
final class CacheFixture: Sendable {
  let clock = ManualClock()
  let wall = Recorded([WallTime(milliseconds: 1_700_000_000_000)])
  let transport: ScriptedTransport
  let cache: ResponseCache
  let client: APIClient

  /// - Parameter answer: Given the request and its number, beginning with 1.
  init(
    store: any CacheStore = MemoryStore(), change: (inout ClientConfiguration) -> Void = { _ in },
    _ answer: @escaping @Sendable (HTTPRequest, Int) async throws -> ScriptedAnswer
  ) {
    let counter = Recorded<Int>()
    transport = ScriptedTransport { request in
      counter.append(1)
      return try await answer(request, counter.all.count)
    }
    cache = ResponseCache(store: store, wallClock: { [wall] in wall.all.last ?? WallTime(milliseconds: 0) })
    var configuration = ClientConfiguration(baseURL: "https://api.example.com")
    configuration.transport = .own(transport)
    configuration.timers = clock
    configuration.cache = .own(cache)
    change(&configuration)
    client = APIClient(configuration)
  }

  /// How many requests reached the server.
  var asked: Int { transport.requests.count }

  /// Turns both clocks.
  func pass(_ seconds: Int) {
    clock.advance(by: .seconds(seconds))
    setWall(by: seconds)
  }

  /// Turns the wall clock alone, as when somebody sets it.
  func setWall(by seconds: Int) {
    guard let now = wall.all.last else { return }
    wall.append(now.advanced(byMilliseconds: Int64(seconds) * 1_000))
  }
}

/// Text from a path, kept as its policy says.
struct Page: APIRequest {
  var path: Path { "/\(name)" }
  var name = "page"
  var method = HTTPMethod.get
  var cache = CachePolicy.lifetime(.seconds(60))
  var cacheKey = CacheKeyRule()
  var headers = RequestHeaders()
  var arguments = Arguments()
  typealias Response = String
}
