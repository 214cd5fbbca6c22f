@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Lists that are loaded page by page, over real sockets.
struct PagingTests {
  /// Pages by number.
  private struct ByPage: PagedRequest {
    var page = 1
    var path: Path { "/numbers" }
    var arguments: Arguments { ["page": page] }
    struct Response: Decodable, Sendable {
      let numbers: [Int]
      let pages: Int
    }

    func items(of page: Response) -> [Int] { page.numbers }
    func next(after page: APIResponse<Response>) -> ByPage? {
      self.page < page.value.pages ? ByPage(page: self.page + 1) : nil
    }
  }

  /// Pages by the `Link` field.
  private struct ByLink: PagedRequest {
    var path: Path = "/links/1"
    typealias Response = [Int]
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> ByLink? { page.raw.link("next").map { ByLink(path: RequestPath($0)) } }
  }

  /// Pages by a cursor in each response.
  private struct ByCursor: PagedRequest {
    var cursor: String?
    var path: Path { "/cursor" }
    var arguments: Arguments { ["cursor": cursor] }
    struct Response: Decodable, Sendable {
      let numbers: [Int]
      let next: String?
    }

    func items(of page: Response) -> [Int] { page.numbers }
    func next(after page: APIResponse<Response>) -> ByCursor? { page.value.next.map { ByCursor(cursor: $0) } }
  }

  /// Pages by offset, at a server that does not report the total.
  private struct ByOffset: PagedRequest {
    var offset = 0
    var path: Path { "/offset" }
    var arguments: Arguments { ["offset": offset] }
    typealias Response = [Int]
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> ByOffset? {
      page.value.isEmpty ? nil : ByOffset(offset: offset + page.value.count)
    }
  }

  /// Pages by offset and page size. An item knows its position in the whole list.
  private struct Placed: PagedRequest {
    var offset = 0
    var limit = 2
    var path: Path { "/placed" }
    var arguments: Arguments { ["offset": offset, "limit": limit] }
    typealias Response = [String]
    func items(of page: [String]) -> [String] { page.enumerated().map { "\(offset + $0.offset)\($0.element)" } }
    func next(after page: APIResponse<[String]>) -> Placed? {
      page.value.count < limit ? nil : Placed(offset: offset + limit, limit: limit)
    }
  }

  /// The value of the only argument of each request.
  private func asked(_ server: LoopbackServer) -> [String?] {
    server.requests.map { URLComponents(string: $0.target)?.queryItems?.first?.value }
  }

  /// A server with three pages of two items. With more pages, page 7 fails.
  private func server(pages: Int = 3) throws -> LoopbackServer {
    try LoopbackServer { request in
      if request.path.hasPrefix("/links/") {
        let number = Int(request.path.dropFirst(7)) ?? 0
        let answer = LoopbackAnswer.json("[\(number * 2 - 1), \(number * 2)]")
        return number < 3 ? answer.adding("Link", "</links/\(number + 1)>; rel=\"next\"") : answer
      }
      guard let number = request.target.split(separator: "=").last.flatMap({ Int($0) }), number < 7 else {
        return .status(500)
      }
      return .json(#"{"numbers": [\#(number * 2 - 1), \#(number * 2)], "pages": \#(pages)}"#)
    }
  }

  @Test(arguments: [false, true]) func `pages arrive in order`(prefetches: Bool) async throws {
    let server = try server()
    let client = APIClient(baseURL: server.url)
    var pages: [[Int]] = []
    for try await page in client.pages(of: ByPage(), prefetches: prefetches) { pages.append(page.value.numbers) }
    #expect(pages == [[1, 2], [3, 4], [5, 6]] && server.requests.count == 3)
  }

  @Test(arguments: [false, true]) func `items arrive in order`(prefetches: Bool) async throws {
    let server = try server()
    let client = APIClient(baseURL: server.url)
    var items: [Int] = []
    for try await item in client.items(of: ByPage(), prefetches: prefetches) { items.append(item) }
    for try await item in client.items(of: ByLink(), prefetches: prefetches) { items.append(item) }
    #expect(items == [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6] && server.requests.count == 6)
  }

  @Test(arguments: [false, true]) func `cursor continues after an empty page`(prefetches: Bool) async throws {
    let server = try LoopbackServer()
    server.enqueue(
      .json(#"{"numbers": [1, 2], "next": "a+/=&"}"#), .json(#"{"numbers": [], "next": "b"}"#),
      .json(#"{"numbers": [3], "next": null}"#))
    var items: [Int] = []
    for try await item in APIClient(baseURL: server.url).items(of: ByCursor(), prefetches: prefetches) {
      items.append(item)
    }
    #expect(items == [1, 2, 3] && asked(server) == [nil, "a+/=&", "b"])
  }

  @Test(arguments: [false, true]) func `offset ends at an empty page`(prefetches: Bool) async throws {
    let server = try LoopbackServer()
    server.enqueue(.json("[1, 2]"), .json("[3]"), .json("[]"))
    var pages: [[Int]] = []
    for try await page in APIClient(baseURL: server.url).pages(of: ByOffset(), prefetches: prefetches) {
      pages.append(page.value)
    }
    #expect(pages == [[1, 2], [3], []] && asked(server) == ["0", "2", "3"])
  }

  @Test(arguments: [false, true]) func `page request splits its page into items`(prefetches: Bool) async throws {
    let server = try LoopbackServer()
    server.enqueue(.json(#"["a", "b"]"#), .json(#"["c", "d"]"#), .json(#"["e"]"#))
    var items: [String] = []
    for try await item in APIClient(baseURL: server.url).items(of: Placed(), prefetches: prefetches) {
      items.append(item)
    }
    #expect(items == ["0a", "1b", "2c", "3d", "4e"] && asked(server) == ["0", "2", "4"])
  }

  @Test func `next page is prefetched`() async throws {
    let server = try server()
    let client = APIClient(baseURL: server.url)
    var ahead = client.pages(of: ByPage(), prefetches: true).makeAsyncIterator()
    _ = try await ahead.next()
    #expect(await eventually { server.requests.count == 2 })
    var lazy = client.pages(of: ByPage()).makeAsyncIterator()
    _ = try await lazy.next()
    #expect(server.requests.count == 3, "the second page was not requested")
  }

  @Test func `failure ends the pages`() async throws {
    let server = try server(pages: 9)
    let client = APIClient(baseURL: server.url)
    var items: [Int] = []
    var iterator = client.items(of: ByPage()).makeAsyncIterator()
    let error = await #expect(throws: APIError.self) {
      while let item = try await iterator.next(isolation: #isolation) { items.append(item) }
    }
    #expect(error?.status == 500 && items == Array(1...12) && server.requests.count == 7)
    #expect(try await iterator.next(isolation: #isolation) == nil)
  }

  @Test func `leaving the loop cancels the prefetch`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      let page = LoopbackAnswer.json(#"{"numbers": [1], "pages": 2}"#)
      return request.target.hasSuffix("=1") ? page : page.held(at: gate)
    }
    let client = APIClient(baseURL: server.url)
    for try await _ in client.pages(of: ByPage(), prefetches: true) {
      try await gate.reached()
      break
    }
    #expect(await eventually { client.running.isEmpty && client.admission == (0, 0) })
    gate.open()
    withExtendedLifetime(server) {}
  }

  @Test func `cancelled task ends the pages`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .ok().held(at: gate) }
    let client = APIClient(baseURL: server.url)
    let reading = Task { for try await _ in client.items(of: ByPage()) {} }
    try await gate.reached()
    reading.cancel()
    let error = await #expect(throws: APIError.self) { try await reading.value }
    #expect(error?.isCancelled == true)
    gate.open()
    withExtendedLifetime(server) {}
  }

  // MARK: - Page manager

  @MainActor private final class Page: APIManagerDelegate {
    private(set) var events: [String] = []
    private var waiter: CheckedContinuation<Void, Never>?

    func managerFinished(_ manager: any APIManaging) { tell("finished") }
    func managerFailed(_ manager: any APIManaging) {
      tell(manager.lastError?.isCancelled == true ? "cancelled" : "failed")
    }

    private func tell(_ event: String) {
      events.append(event)
      waiter?.resume()
      waiter = nil
    }

    /// Waits until the total number of events is `count`.
    func heard(_ count: Int) async {
      while events.count < count { await withCheckedContinuation { waiter = $0 } }
    }
  }

  @Test @MainActor func `manager loads page after page`() async throws {
    let server = try server()
    let page = Page()
    let manager = PageManager(APIClient(baseURL: server.url), first: ByPage())
    manager.delegate = page
    for number in 1...3 {
      #expect(manager.hasMore && manager.loadNext() && manager.isLoading && !manager.loadNext())
      await page.heard(number)
      #expect(manager.items == Array(1...number * 2) && manager.lastItems.count == 2 && !manager.isLoading)
      #expect(manager.lastOutcome?.value?.numbers == manager.lastItems && manager.lastOutcome?.origin == .network)
    }
    #expect(!manager.hasMore && !manager.loadNext() && manager.pageCount == 3)
    manager.reset()
    #expect(manager.lastOutcome == nil && manager.lastError == nil)
    #expect(manager.hasMore && manager.items.isEmpty && manager.loadNext())
    await page.heard(4)
    #expect(manager.items == [1, 2] && page.events == Array(repeating: "finished", count: 4))
    #expect(server.requests.count == 4)
  }

  @Test @MainActor func `page after a reset counts as cancelled`() async throws {
    let server = try server()
    let page = Page()
    var options = CallOptions()
    let resets = Recorded<@MainActor () -> Void>()
    options.afterCompletion = { _ in MainActor.assumeIsolated { resets.all.forEach { $0() } } }
    let manager = PageManager(APIClient(baseURL: server.url), first: ByPage(), options: options)
    manager.delegate = page
    resets.append { [weak manager] in manager?.reset() }
    manager.loadNext()
    #expect(await eventually { page.events == ["cancelled"] })
    #expect(manager.items.isEmpty && manager.hasMore)
  }

  /// Resets or cancels its manager while a page is starting.
  private struct Restarter: Accessory {
    let resets: Recorded<@MainActor () -> Void>

    func willStart(_ call: CallInfo) {
      guard let reset = resets.takeFirst() else { return }
      MainActor.assumeIsolated { reset() }
    }
  }

  @Test @MainActor func `reset at the start cancels the page`() async throws {
    let server = try server()
    let page = Page()
    let resets = Recorded<@MainActor () -> Void>()
    let manager = PageManager(
      APIClient(baseURL: server.url), first: ByPage(), options: CallOptions(accessories: [Restarter(resets: resets)]))
    manager.delegate = page
    resets.append { [weak manager] in manager?.reset() }
    manager.loadNext()
    #expect(!manager.isLoading && manager.items.isEmpty)
    await page.heard(1)
    #expect(page.events == ["cancelled"] && manager.loadNext())
    await page.heard(2)
    #expect(manager.items == [1, 2])
  }

  @Test @MainActor func `cancel at the start cancels the page`() async throws {
    let server = try server()
    let page = Page()
    let cancels = Recorded<@MainActor () -> Void>()
    let manager = PageManager(
      APIClient(baseURL: server.url), first: ByPage(), options: CallOptions(accessories: [Restarter(resets: cancels)]))
    manager.delegate = page
    cancels.append { [weak manager] in manager?.cancelAll() }
    manager.loadNext()
    await page.heard(1)
    #expect(page.events == ["cancelled"] && manager.items.isEmpty && !manager.isLoading)
    #expect(manager.loadNext())
    await page.heard(2)
    #expect(manager.items == [1, 2])
  }

  @Test @MainActor func `empty last page ends the manager`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.json("[1, 2]"), .json("[]"))
    let page = Page()
    let manager = PageManager(APIClient(baseURL: server.url), first: ByOffset())
    manager.delegate = page
    manager.loadNext()
    await page.heard(1)
    #expect(manager.hasMore && manager.loadNext())
    await page.heard(2)
    #expect(manager.items == [1, 2] && manager.lastItems.isEmpty && manager.pageCount == 2)
    #expect(!manager.hasMore && !manager.loadNext() && asked(server) == ["0", "2"])
  }

  @Test @MainActor func `failed page can be loaded again`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"numbers": [1], "pages": 1}"#) }
    server.enqueue(.status(500))
    let page = Page()
    let manager = PageManager(APIClient(baseURL: server.url), first: ByPage())
    manager.delegate = page
    manager.loadNext()
    await page.heard(1)
    #expect(manager.lastError?.status == 500 && manager.hasMore && manager.items.isEmpty)
    manager.loadNext()
    await page.heard(2)
    #expect(manager.lastError == nil && manager.items == [1] && !manager.hasMore)
    #expect(page.events == ["failed", "finished"] && server.requests.count == 2)
  }

  /// A manager whose first page is held at a gate of the server; later pages arrive immediately.
  @MainActor private struct Waiting {
    let gate = Gate()
    let server: LoopbackServer
    let page = Page()
    let manager: PageManager<ByPage>

    init() async throws {
      let answer = LoopbackAnswer.json(#"{"numbers": [1], "pages": 1}"#)
      server = try LoopbackServer { _ in answer }
      server.enqueue(answer.held(at: gate))
      manager = PageManager(APIClient(baseURL: server.url), first: ByPage())
      manager.delegate = page
      manager.loadNext()
      try await gate.reached()
    }

    func end() { gate.open() }
  }

  @Test @MainActor func `reset during a page starts again`() async throws {
    let waiting = try await Waiting()
    let (manager, page) = (waiting.manager, waiting.page)
    manager.reset()
    #expect(!manager.isLoading && manager.loadNext())
    waiting.end()  // the new page may share the exchange of the old page, which has not left it yet
    await page.heard(2)
    #expect(Set(page.events) == ["cancelled", "finished"] && manager.items == [1])
    #expect(manager.lastOutcome?.value?.numbers == [1] && manager.lastError == nil)
  }

  @Test @MainActor func `reset leaves no trace of a running page`() async throws {
    let waiting = try await Waiting()
    let (manager, page) = (waiting.manager, waiting.page)
    manager.reset()
    await page.heard(1)
    #expect(page.events == ["cancelled"], "the delegate received the outcome")
    #expect(manager.lastOutcome == nil && manager.lastError == nil && !manager.isLoading && manager.hasMore)
    waiting.end()
  }

  @Test @MainActor func `page size may change after a reset`() async throws {
    let server = try LoopbackServer { _ in .json(#"["a", "b"]"#) }
    let page = Page()
    let manager = PageManager(APIClient(baseURL: server.url), first: Placed())
    manager.delegate = page
    manager.loadNext()
    await page.heard(1)
    manager.first = Placed(limit: 5)
    manager.loadNext()
    await page.heard(2)
    manager.reset()
    manager.loadNext()
    await page.heard(3)
    let targets = ["/placed?offset=0&limit=2", "/placed?offset=2&limit=2", "/placed?offset=0&limit=5"]
    #expect(server.requests.map(\.target) == targets && manager.items == ["0a", "1b"])
  }

  @Test @MainActor func `cancelled page is the last outcome`() async throws {
    let waiting = try await Waiting()
    let (manager, page) = (waiting.manager, waiting.page)
    manager.cancelAll()
    await page.heard(1)
    #expect(page.events == ["cancelled"] && manager.lastError?.isCancelled == true && manager.hasMore)
    waiting.end()
  }
}
