import CFaultyCalls
import Errand
import ErrandCache
import ErrandCore
import Foundation

/// The work of a client with a disk cache while one file call fails, and afterwards. Every response must be correct:
/// the current page, and never a page from before a change that the client made itself.
final class CacheStory {
  private struct Page: APIRequest {
    typealias Response = String
    let path: Path
    var method = HTTPMethod.get
    var cache: CachePolicy { .http }
  }

  private static let tag = "session"
  /// The end of the text of a page. The text of a large page is stored in a file of its own.
  private static let filler = String(repeating: "x", count: 10)
  private static let largeFiller = String(repeating: "x", count: 150_000)

  private let url: String
  private let folder: URL
  private var store: SQLiteStore
  private var cache: ResponseCache
  private var client: APIClient
  private var versions: [String: Int] = [:]
  private var problems: [String] = []

  init(url: String, folder: URL) {
    self.url = url
    self.folder = folder
    (store, cache, client) = Self.opened(url, folder)
  }

  private static func opened(_ url: String, _ folder: URL) -> (SQLiteStore, ResponseCache, APIClient) {
    let store = SQLiteStore(folder: folder.appending(path: "cache"), limit: 16 << 20)
    let cache = ResponseCache(store: store)
    var configuration = ClientConfiguration(baseURL: url)
    configuration.cache.store = .own(cache)
    return (store, cache, APIClient(configuration))
  }

  /// Opens another store and another client, as when the app starts again.
  private func reopen() async {
    await store.close()
    (store, cache, client) = Self.opened(url, folder)
  }

  /// Plays the scenario while the call with the given number fails. Returns the number of calls, and the problems
  /// found.
  func play(_ turn: Int, _ code: Int32) async -> (calls: Int, problems: [String]) {
    let (page, other, large) = ("/\(turn)/page", "/\(turn)/other", "/\(turn)/large")
    let removed = "/\(turn)/removed"
    // A call stores nothing if the store is not open within 250 ms.
    await store.flush()
    for path in [page, other, large] { await get(path) }
    await get(removed, .tag(Self.tag))
    await reopen()

    faulty_begin(folder.path(percentEncoded: false), Int32(clamping: turn), code)
    for path in [page, other, large] { await get(path) }
    cache.removeAll(tag: Self.tag)
    await change(page)
    for path in [page, other, large, "/\(turn)/new"] { await get(path) }
    await store.flush()
    await change(large)
    for path in [large, page] { await get(path) }
    await reopen()
    let calls = Int(faulty_count())
    let name = String(cString: faulty_name())
    faulty_end()

    // A removed page stays removed, also for a later process that opens the store.
    let found = await client.outcome(of: Page(path: RequestPath(removed)), options: .cache(.cacheOnlyAtAnyAge))
    if found.value != nil { problems.append("\(removed) was removed, and is found") }
    // A page that changed while the disk failed may still be stored in its old form.
    for path in [page, large] { await change(path) }
    for path in [page, other, large] { await get(path) }
    await expectWell("/\(turn)/again")
    await store.close()
    try? FileManager.default.removeItem(at: folder.appending(path: "cache"))
    return (calls, problems.map { "\($0) (\(name))" })
  }

  /// The text that the server currently serves at a path.
  private func text(_ path: String) -> String {
    "\(path) \(versions[path] ?? 0) " + (path.hasSuffix("/large") ? Self.largeFiller : Self.filler)
  }

  private func get(_ path: String, _ options: CallOptions = CallOptions()) async {
    let outcome = await client.outcome(of: Page(path: RequestPath(path)), options: options)
    if outcome.value != text(path) { note("GET \(path)", outcome) }
  }

  private func change(_ path: String) async {
    let version = (versions[path] ?? 0) + 1
    versions[path] = version
    let outcome = await client.outcome(of: Page(path: RequestPath(path), method: .post))
    if outcome.value != "\(version)" { note("POST \(path)", outcome) }
  }

  /// Within half a minute a page is stored again.
  private func expectWell(_ path: String) async {
    let end = ContinuousClock.now + .seconds(30)
    while .now < end {
      await get(path)
      await store.flush()
      let kept = await client.outcome(of: Page(path: RequestPath(path)), options: .cache(.cacheOnly))
      if kept.value == text(path) { return }
    }
    problems.append("the store is not well again")
  }

  private func note(_ what: String, _ outcome: Outcome<String>) {
    problems.append("\(what): \(outcome.error.map { "\($0)" } ?? String((outcome.value ?? "").prefix(60)))")
  }
}
