import Errand
import ErrandSupport
import ErrandTesting

@testable import ErrandOutbox

/// A page with a title that requests change.
struct Page: Codable, Sendable, Equatable {
  var id: String
  var title: String
}

struct GetPage: APIRequest {
  var id: String
  var path: Path { "/pages/\(id)" }
  var cache: CachePolicy { .lifetime(.seconds(60)) }
  typealias Response = Page
}

struct ListPages: APIRequest {
  var path: Path { "/pages" }
  var cache: CachePolicy { .lifetime(.seconds(60)) }
  typealias Response = [Page]
}

/// Changes the title of a page, in the page itself and in the list.
struct SetTitle: OptimisticRequest {
  var page: OutboxReference
  var title: String
  var path: Path { "/pages/\(page)" }
  var method: HTTPMethod { .put }
  var arguments: Arguments { ["title": title] }
  var outbox: OutboxRule { .lane("page", page) }
  typealias Response = Nothing

  func patches(of object: OutboxReference) -> [OutboxPatch] {
    let (id, title) = (page.description, title)
    return [
      .changing(GetPage.self) { page, request in if request.id == id { page.title = title } },
      .changing(ListPages.self) { pages, _ in
        for index in pages.indices where pages[index].id == id { pages[index].title = title }
      },
    ]
  }
}

/// Creates a page, and adds it to the list.
struct AddPage: OptimisticRequest {
  var title: String
  var path: Path { "/drafts" }
  var method: HTTPMethod { .post }
  var arguments: Arguments { ["title": title] }
  var outbox: OutboxRule { .lane("new page", title) }
  func createdID(from page: Page) -> String? { page.id }
  typealias Response = Page

  func patches(of object: OutboxReference) -> [OutboxPatch] {
    let page = Page(id: object.description, title: title)
    return [
      .changing(ListPages.self) { pages, _ in
        if !pages.contains(where: { $0.id == page.id }) { pages.append(page) }
      }
    ]
  }
}

/// A server with one page, whose title a PUT changes to upper case.
final class Book: Sendable {
  let title = Locked("old")
  let status: Locked<Int>

  init(status: Int = 204) { self.status = Locked(status) }

  func answer(_ request: RecordedRequest) -> LoopbackAnswer {
    guard request.method == "PUT" else {
      let page = "{\"id\": \"7\", \"title\": \"\(title.withLock { $0 })\"}"
      return .json(request.path == "/pages" ? "[\(page)]" : page)
    }
    let status = status.withLock { $0 }
    if status == 204 {
      let sent = request.bodyText.split(separator: "\"").map(String.init)[safe: 3] ?? ""
      title.withLock { $0 = sent.uppercased() }
    }
    return .status(status)
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
