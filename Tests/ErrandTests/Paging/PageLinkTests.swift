import Errand
import ErrandTesting
import TestSupport
import Testing

/// Links to the next page, and lists that would never end.
struct PageLinkTests {
  private struct Posts: PagedRequest {
    var path: Path = "/posts"
    var arguments: Arguments { ["page": 1, "limit": 2] }
    typealias Response = [Int]
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> Posts? {
      page.raw.link("next").map { Posts(path: RequestPath(link: $0)) }
    }
  }

  @Test func `followed link keeps its query`() async throws {
    let server = try LoopbackServer()
    server.enqueue(LoopbackAnswer.json("[1, 2]").adding("Link", "</posts?page=2&size=2>; rel=\"next\""), .json("[3]"))
    let client = APIClient(baseURL: server.url)
    var items: [Int] = []
    for try await item in client.items(of: Posts()) { items.append(item) }
    #expect(items == [1, 2, 3])
    #expect(server.requests.map(\.target) == ["/posts?page=1&limit=2", "/posts?page=2&size=2"])
  }

  private static let link = "http://h.example/posts?page=2&per_page=5"

  @Test func `link gets no arguments`() async throws {
    let bench = ScriptedClient { $0.additions.arguments = { ["version": "7"] } }
    var request = Sending(path: RequestPath(link: Self.link), arguments: ["page": 1])
    request.family = RequestFamily("shop", arguments: ["region": "eu"])
    #expect(try await bench.url(request) == Self.link)
    request.path = RequestPath(Self.link)
    #expect(try await bench.sent(request)?.queryPairs.count == 5)
  }

  @Test func `URL filter adds arguments to a link`() async throws {
    let bench = ScriptedClient {
      $0.additions.filters = [URLFilter("key") { url, _ in url.arguments["key"] = "k" }]
    }
    #expect(try await bench.url(Sending(path: RequestPath(link: Self.link))) == Self.link + "&key=k")
  }

  @Test func `arguments in a body stay with a link`() async throws {
    let request = Sending(path: RequestPath(link: Self.link), method: .post, arguments: ["name": "Ada"])
    let sent = try await ScriptedClient().sent(request)
    #expect(sent?.url.string == Self.link && sent?.formPairs == [["name", "Ada"]])
  }

  @Test func `link and path are different values`() {
    #expect(RequestPath(link: "/posts") != RequestPath("/posts"))
    #expect(RequestPath(link: "/posts") == RequestPath(link: "/posts"))
  }

  // MARK: - Lists without end

  /// Pages whose second page leads to the first page.
  private struct Circle: PagedRequest {
    var number = 1
    var path: Path { "/circle/\(number)" }
    typealias Response = [Int]
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> Circle? { Circle(number: 3 - number) }
  }

  @Test(arguments: [false, true]) func `repeated page request is an error`(prefetches: Bool) async throws {
    let server = try LoopbackServer { _ in .json("[1]") }
    let client = APIClient(baseURL: server.url)
    var count = 0
    let error = await #expect(throws: APIError.self) {
      for try await _ in client.pages(of: Circle(), prefetches: prefetches) {
        count += 1
        if count == 5 { break }
      }
    }
    #expect(error?.stage == .validate && error?.code == .pageLoop && error?.request?.url.path == "/circle/1")
    #expect(count == 2 && server.requests.count == 3)
  }

  @Test @MainActor func `manager reports a repeated page request`() async throws {
    let server = try LoopbackServer { _ in .json("[1]") }
    let manager = PageManager(APIClient(baseURL: server.url), first: Circle())
    for count in 1...2 {
      manager.loadNext()
      #expect(await eventually { manager.pageCount == count })
    }
    manager.loadNext()
    #expect(await eventually { manager.lastError?.code == .pageLoop })
    #expect(manager.items == [1, 1] && manager.pageCount == 2)
    #expect(!manager.hasMore && !manager.loadNext() && server.requests.count == 3, "the list has ended")
    manager.reset()
    manager.loadNext()
    #expect(await eventually { manager.items == [1] })
  }

  /// Pages at one URL. The place in the list is a header field or a part of the body.
  private struct Rows: PagedRequest {
    var first = 0
    var isInBody: Bool
    var path: Path { "/rows" }
    var method: HTTPMethod { .post }
    var headers: RequestHeaders { isInBody ? [:] : ["X-First": first] }
    var arguments: Arguments { isInBody ? ["first": first] : [:] }
    typealias Response = [Int]
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> Rows? {
      page.value.isEmpty ? nil : Rows(first: first + page.value.count, isInBody: isInBody)
    }
  }

  @Test(arguments: [false, true]) func `pages may share their URL`(isInBody: Bool) async throws {
    let server = try LoopbackServer()
    server.enqueue(.json("[1]"), .json("[2]"), .json("[]"))
    var items: [Int] = []
    for try await item in APIClient(baseURL: server.url).items(of: Rows(isInBody: isInBody)) { items.append(item) }
    #expect(items == [1, 2] && server.requests.count == 3)
  }

  /// Pages of a server that stores the position in the list itself, so that all requests are equal.
  private struct Scroll: PagedRequest {
    var path: Path { "/scroll" }
    typealias Response = [Int]
    func items(of page: [Int]) -> [Int] { page }
    func next(after page: APIResponse<[Int]>) -> Scroll? { page.value.isEmpty ? nil : self }
  }

  @Test func `equal requests may load different pages`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.json("[1]"), .json("[2]"), .json("[]"))
    var items: [Int] = []
    for try await item in APIClient(baseURL: server.url).items(of: Scroll()) { items.append(item) }
    #expect(items == [1, 2] && server.requests.count == 3)
  }
}
