import CFaultyCalls
import Errand
import ErrandCache
import ErrandCore
import Foundation

/// What a client with a cache on a disk does while one file call fails, and afterwards. Every answer must be right:
/// the page as it is, and never one from before a change that the client has made itself.
final class CacheStory {
  private struct Page: APIRequest {
    typealias Response = String
    let path: Path
    var method = HTTPMethod.get
    var cache: CachePolicy { .http }
  }

  private static let tag = "session"

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
    configuration.cache = .own(cache)
    return (store, cache, APIClient(configuration))
  }

  /// Another store and another client, as when the app starts again.
  private func reopen() async {
    await store.close()
    (store, cache, client) = Self.opened(url, folder)
  }

  /// Plays it while the call of one number fails. Returns how many calls there were, and what went wrong.
  func play(_ turn: Int, _ code: Int32) async -> (calls: Int, problems: [String]) {
    let (page, other, large) = ("/\(turn)/page", "/\(turn)/other", "/\(turn)/large")
    let removed = "/\(turn)/removed"
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

    // What was removed stays away, also from who opens the store next.
    let found = await client.outcome(of: Page(path: RequestPath(removed)), options: .cache(.cacheOnlyAtAnyAge))
    if found.value != nil { problems.append("\(removed) was removed, and is found") }
    // What was changed while the disk failed may lie there as it was before.
    for path in [page, large] { await change(path) }
    for path in [page, other, large] { await get(path) }
    await expectWell("/\(turn)/again")
    await store.close()
    try? FileManager.default.removeItem(at: folder.appending(path: "cache"))
    return (calls, problems.map { "\($0) (\(name))" })
  }

  /// What the server says at a path now.
  private func text(_ path: String) -> String {
    "\(path) \(versions[path] ?? 0) " + String(repeating: "x", count: path.hasSuffix("/large") ? 150_000 : 10)
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

  /// Within half a minute a page is kept again.
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
