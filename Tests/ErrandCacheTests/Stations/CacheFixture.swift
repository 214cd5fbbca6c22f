import Errand
@testable import ErrandCache
@testable import ErrandCore
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

  /// The present as a server writes it.
  var date: String { HTTPDate.text(wall.all.last ?? WallTime(milliseconds: 0)) }

  /// What a page gives without asking anybody: nil where nothing can be served.
  func stored(_ page: Page = Page()) async -> String? {
    await client.outcome(of: page, options: .cache(.cacheOnlyAtAnyAge)).value
  }

  /// Why a page gives nothing without asking anybody.
  func miss(_ page: Page = Page()) async -> CacheMiss? {
    await client.outcome(of: page, options: .cache(.cacheOnly)).error?.cacheMiss
  }

  /// Waits until no background refresh is under way.
  func settled() async {
    while !cache.refreshes.isEmpty { await Task.yield() }
  }

  /// Waits until every exchange is over, also those whose calls have ended before.
  func exchangesEnded() async {
    while !client.fittings.joining.isIdle { await Task.yield() }
  }

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
  var body: RequestBody?
  var credential = RequestCredential.inherited
  var family: RequestFamily?
  var statusRule: StatusRule?
  var redirects: RedirectPolicy?
  var cachedAs: (any APIRequest)?
  typealias Response = String

  /// A page kept as the server says.
  static func http(
    _ name: String = "page", method: HTTPMethod = .get, headers: RequestHeaders = RequestHeaders()
  ) -> Page {
    Page(name: name, method: method, cache: .http, headers: headers)
  }
}

extension ScriptedAnswer {
  /// A text with fields.
  static func page(_ text: String, _ fields: HTTPFields, status: Int = 200) -> ScriptedAnswer {
    var answer = ScriptedAnswer.text(text, status: status)
    for field in fields.all { answer.head.fields.replace(field) }
    return answer
  }
}

extension ResponseCache {
  /// Stores in memory: one for the page named "page", one for all else.
  /// - Parameter opened: Told the folder of each store that is opened.
  static func inTwoFolders(_ opened: @escaping @Sendable (URL) -> Void = { _ in }) -> ResponseCache {
    ResponseCache(
      stores: CacheFolders(
        folder: URL(filePath: "/a"),
        filters: [
          CacheFolderFilter { folder, request in
            (request as? Page)?.name == "page" ? folder.appending(path: "pages") : folder
          }
        ],
        open: { folder in
          opened(folder)
          return MemoryStore()
        }))
  }
}
