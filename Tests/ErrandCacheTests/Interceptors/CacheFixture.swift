import Errand
@testable import ErrandCache
@testable import ErrandCore
import ErrandHTTP
import ErrandTesting
import Foundation

/// A client with a cache, a scripted server that counts requests, and clocks that the test sets.
final class CacheFixture: Sendable {
  let clock = ManualClock()
  let wall = Recorded([WallTime(milliseconds: 1_700_000_000_000)])
  let transport: ScriptedTransport
  let cache: ResponseCache
  let client: APIClient

  /// - Parameter answer: Receives the request and its number, starting with 1.
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
    configuration.cache.store = .own(cache)
    change(&configuration)
    client = APIClient(configuration)
  }

  /// The number of requests that reached the server.
  var asked: Int { transport.requests.count }

  /// The current time in the format of a server.
  var date: String { HTTPDate.text(wall.all.last ?? WallTime(milliseconds: 0)) }

  /// The value that a page returns without contacting the server; nil if none can be served.
  func stored(_ page: Page = Page()) async -> String? {
    await client.outcome(of: page, options: .cache(.cacheOnlyAtAnyAge)).value
  }

  /// Why a page cannot be served without contacting the server.
  func miss(_ page: Page = Page()) async -> CacheMiss? {
    await client.outcome(of: page, options: .cache(.cacheOnly)).error?.cacheMiss
  }

  /// Waits until no background refresh is in progress.
  func settled() async {
    while !cache.refreshes.isEmpty { await Task.yield() }
  }

  /// Waits until every exchange is over, including those whose calls have already ended.
  func exchangesEnded() async {
    while !client.services.joining.isIdle { await Task.yield() }
  }

  /// Advances both clocks.
  func pass(_ seconds: Int) {
    clock.advance(by: .seconds(seconds))
    setWall(by: seconds)
  }

  /// Changes only the wall clock, like a user who sets it.
  func setWall(by seconds: Int) {
    guard let now = wall.all.last else { return }
    wall.append(now.advanced(byMilliseconds: Int64(seconds) * 1_000))
  }
}

/// The text of a path, cached by its policy.
struct Page: APIRequest {
  var path: Path { "/\(name)" }
  var name = "page"
  var method = HTTPMethod.get
  var cache = CachePolicy.lifetime(.seconds(60))
  var headers = RequestHeaders()
  var arguments = Arguments()
  var body: RequestBody?
  var credential = RequestCredential.inherited
  var family: RequestFamily?
  var statusRule: StatusRule = .inherited
  var redirects: RedirectPolicy = .inherited
  var validation: ResponseValidation { ResponseValidation(status: statusRule) }
  typealias Response = String

  /// A page that is cached by the server's directives.
  static func http(
    _ name: String = "page", method: HTTPMethod = .get, headers: RequestHeaders = RequestHeaders()
  ) -> Page {
    Page(name: name, method: method, cache: .http, headers: headers)
  }
}

extension ScriptedAnswer {
  /// A text response with header fields.
  static func page(_ text: String, _ fields: HTTPFields, status: Int = 200) -> ScriptedAnswer {
    var answer = ScriptedAnswer.text(text, status: status)
    for field in fields.all { answer.head.fields.replace(field) }
    return answer
  }

  /// The same response with one more field.
  func with(_ name: HTTPFieldName, _ value: String) -> ScriptedAnswer {
    var answer = self
    answer.head.fields.replace(HTTPField(name, value))
    return answer
  }
}

extension ResponseCache {
  /// Stores in memory: one for the page named "page", one for all others.
  /// - Parameter opened: Receives the folder of each store that is opened.
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
