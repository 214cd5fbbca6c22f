// Responses converted for a screen, one object per API, and lists page by page.
import Errand
import ErrandTesting

struct GetUser: APIRequest {
  let id: Int
  var path: Path { "/users/\(id)" }
  struct Response: Decodable, Sendable {
    let name: String
    let unread: Int
  }
}

struct Row: Sendable {
  let title: String
  let isMarked: Bool
}

struct Nonsense: Error {}

// snippet.reformers
struct UserRow: Reformer {
  func reform(_ user: GetUser.Response) -> Row { Row(title: user.name, isMarked: user.unread > 0) }
}
struct UnreadBadge: Reformer {
  func reform(_ user: GetUser.Response) throws -> Int {
    guard user.unread >= 0 else { throw Nonsense() }
    return user.unread
  }
}
// snippet.end

// snippet.paged
struct GetPosts: PagedRequest {
  var cursor: String?
  var path: Path { "/posts" }
  var arguments: Arguments { ["cursor": cursor, "limit": 50] }
  struct Response: Decodable, Sendable {
    let posts: [String]
    let next: String?
  }

  func items(of page: Response) -> [String] { page.posts }
  func next(after page: APIResponse<Response>) -> GetPosts? { page.value.next.map { GetPosts(cursor: $0) } }
}
// snippet.end

// snippet.offset
struct GetComments: PagedRequest {
  var offset = 0
  var path: Path { "/comments" }
  var arguments: Arguments { ["offset": offset, "limit": 50] }
  typealias Response = [String]

  func items(of page: [String]) -> [String] { page }
  func next(after page: APIResponse<[String]>) -> GetComments? {
    page.value.isEmpty ? nil : GetComments(offset: offset + page.value.count)
  }
}
// snippet.end

// snippet.link
struct GetReviews: PagedRequest {
  var path: Path = "/reviews"
  var arguments: Arguments { ["per_page": 50] }
  typealias Response = [String]

  func items(of page: [String]) -> [String] { page }
  func next(after page: APIResponse<[String]>) -> GetReviews? {
    page.raw.link("next").map { GetReviews(path: RequestPath(link: $0)) }
  }
}
// snippet.end

let server = try LoopbackServer { request in
  switch (request.path, request.target.contains("cursor=b")) {
  case ("/posts", false): .json(#"{"posts": ["first", "second"], "next": "b"}"#)
  case ("/posts", true): .json(#"{"posts": ["third"], "next": null}"#)
  case ("/comments", _): .json(request.target.contains("offset=0") ? #"["yes", "no"]"# : "[]")
  case ("/reviews", _): .json(#"["good"]"#)
  default: .json(#"{"name": "Ada", "unread": 3}"#)
  }
}
let client = APIClient(baseURL: server.url)

// snippet.send
let row = try await client.send(GetUser(id: 7), as: UserRow())
client.start(GetUser(id: 7), as: UserRow()) { row in print(row.title) }
// snippet.end

// snippet.several
let outcome = await client.outcome(of: GetUser(id: 7))
let title = outcome.reformed(by: UserRow()).value?.title
let badge = outcome.reformed(by: UnreadBadge()).value
let titles = UserRow().then(Reform { $0.title }).each
// snippet.end
print(row, title ?? "", badge ?? 0, titles)

// snippet.manager
@MainActor final class UserPage: APIManagerDelegate {
  var userID = 7
  lazy var user = APIManager(client) { [weak self] in GetUser(id: self?.userID ?? 0) }

  func open() {
    user.delegate = self
    user.start()
  }

  func managerFinished(_ manager: any APIManaging) {
    if manager === user, let row = try? user.fetch(as: UserRow()) { print(row.title) }
  }

  func managerFailed(_ manager: any APIManaging) { print(manager.lastError?.message ?? "") }
}
// snippet.end

let page = UserPage()
page.open()

// snippet.pages
for try await post in client.items(of: GetPosts()) { print(post) }
for try await page in client.pages(of: GetPosts(), prefetches: true) { print(page.value.posts.count) }
// snippet.end

for try await comment in client.items(of: GetComments()) { print(comment) }
for try await review in client.items(of: GetReviews()) { print(review) }

// snippet.list
let posts = PageManager(client, first: GetPosts())
posts.delegate = page
posts.loadNext()
// snippet.end
