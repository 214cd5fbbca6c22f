import Errand
import ErrandJSON
import Foundation

/// Sends the cases of cases.py, each a line of JSON, as generated requests. The header `X-Case` has the number of the
/// line, by which Scripts/generate-proof.py finds what the application received.
@MainActor
struct Cases {
  let url: String
  let lines: [Data]

  /// Sends all cases, and returns how many could not be made or got a response that the generated types cannot read.
  /// An application may refuse a case: it knows rules that its document does not state.
  func run() async -> Int {
    var failures = 0
    for (index, line) in lines.enumerated() {
      var configuration = ClientConfiguration(baseURL: url)
      configuration.headers.set("X-Case", "\(index)")
      do {
        try await send(Case(line: line), with: APIClient(configuration))
      } catch let error as APIError where (400..<500).contains(error.status ?? 0) {
        continue
      } catch {
        failures += 1
        print("case \(index): \(error)\n  \(String(decoding: line, as: UTF8.self))")
      }
    }
    return failures
  }

  private func send(_ item: Case, with client: APIClient) async throws {
    switch try item.operation {
    case "read_book_books__book_id__get":
      _ = try await client.send(ReadBook(bookID: item.path("book_id"), verbose: item.query("verbose")))
    case "add_book_books_post": _ = try await client.send(AddBook(newBook: item.body()))
    case "set_note_books__book_id__note_put":
      _ = try await client.send(SetNote(bookID: item.path("book_id"), content: item.body()))
    case "delete_book_books__book_id__delete": _ = try await client.send(DeleteBook(bookID: item.path("book_id")))
    case "search_search_get": _ = try await client.send(search(item))
    case "filtered_filtered_get":
      let request = try Filtered(limit: item.query("limit"), order: item.query("order"), words: item.query("words"))
      _ = try await client.send(request)
    case "locate_files__name__get": _ = try await client.send(Locate(name: item.path("name")))
    case "find_day_days__day__get": _ = try await client.send(FindDay(day: item.path("day")))
    case "double_shape_shapes_post": _ = try await client.send(DoubleShape(content: item.body()))
    case "mirror_tree_tree_post": _ = try await client.send(MirrorTree(treeInput: item.body()))
    case "echo_extra_extra_post": _ = try await client.send(EchoExtra(extra: item.body()))
    case "add_numbers_numbers_post": _ = try await client.send(AddNumbers(content: item.body()))
    case "mixed_mixed_post": _ = try await client.send(Mixed(content: item.body()))
    case "login_login_post": _ = try await client.send(Login(content: item.body()))
    case let other: throw Unknown(operation: other)
    }
  }

  private func search(_ item: Case) throws -> Search {
    try Search(
      searchText: item.query("search-text"), genres: item.query("genres"), since: item.query("since"),
      day: item.query("day"), stars: item.query("stars"), pathValue: item.query("path"),
      xTrace: item.read("header", "x-trace"), xParts: item.read("header", "x-parts"),
      session: item.read("cookie", "session"))
  }

  /// An operation that ``send(_:with:)`` does not name.
  private struct Unknown: Error {
    let operation: String
  }
}

/// One case: its parts are read as the types that a generated request takes.
private struct Case {
  let line: Data

  var operation: String { get throws { try read("operation") } }

  func path<T: Decodable>(_ name: String) throws -> T { try read("path", name) }
  func query<T: Decodable>(_ name: String) throws -> T { try read("query", name) }
  func body<T: Decodable>() throws -> T { try read("body") }

  func read<T: Decodable>(_ keys: String...) throws -> T {
    let path = try JSONPath(parsing: keys.joined(separator: "."))
    return try Library.family.formats.jsonDecoding.decode(T.self, from: line, at: path)
  }
}
