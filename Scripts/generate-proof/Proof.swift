import Errand
import Foundation

/// Calls every operation that `errand generate` wrote for app.py, and checks the results. The arguments are the URL of
/// the server and the file of the cases. Scripts/generate-proof.py compiles this file beside the generated ones.
@main
@MainActor
struct Proof {
  private static var failures = 0
  private let client: APIClient
  private let id = UUID(uuidString: "8A1B2C3D-0000-4000-8000-000000000001") ?? UUID()

  static func main() async {
    guard CommandLine.arguments.count == 3,
      let cases = try? Data(contentsOf: URL(filePath: CommandLine.arguments[2]))
    else {
      print("usage: Proof URL CASES")
      exit(2)
    }
    let url = CommandLine.arguments[1]
    var configuration = ClientConfiguration(baseURL: url)
    configuration.credentials = FixedCredential(.bearer("secret-token"))
    let proof = Proof(client: APIClient(configuration))
    await proof.run()
    failures += await Cases(url: url, lines: cases.split(separator: UInt8(ascii: "\n"))).run()
    print(failures == 0 ? "all checks passed" : "\(failures) checks failed")
    exit(failures == 0 ? 0 : 1)
  }

  private func run() async {
    await check("books") { try await books() }
    await check("failures") { try await failures() }
    await check("parameters") { try await parameters() }
    await check("shapes") { try await shapes() }
    await check("trees and numbers") { try await treesAndNumbers() }
    await check("forms") { try await forms() }
    await check("bytes and texts") { try await bytesAndTexts() }
    await check("the rest") { try await rest() }
  }

  private func check(_ name: String, _ work: @MainActor () async throws -> Void) async {
    do {
      try await work()
      print("done: \(name)")
    } catch {
      Self.failures += 1
      print("failed: \(name): \(error)")
    }
  }

  private func expect<Value: Equatable>(_ value: Value, _ expected: Value, line: Int = #line) {
    guard value != expected else { return }
    Self.failures += 1
    print("line \(line): \(value) instead of \(expected)")
  }

  // MARK: - Groups of checks

  private func books() async throws {
    let book = try await client.send(ReadBook(bookID: id, verbose: true))
    expect(book.title, "Verbose")
    expect(book.id, id)
    expect(book.subtitle, nil)
    expect(book.added, Date(timeIntervalSince1970: 1_769_860_800.25))
    expect(book.authors?.first?.born, Library.CalendarDate(year: 1815, month: 12, day: 10))
    expect(book.authors?.first?.site, URL(string: "https://example.com/ada"))
    let new = NewBook(
      title: "Tea \"and\" \\(coffee)", genre: .value5050, subtitle: nil, authors: [Author(name: "Ü")], tags: ["a"],
      prices: ["eur": 1.5], stars: .value5, selfValue: "me", container: "box", copies: .string("many"))
    let added = try await client.send(AddBook(newBook: new))
    expect(added.title, new.title)
    expect(added.genre, .value5050)
    expect(added.tags, ["a"])
    expect(added.prices, ["eur": 1.5])
    expect(added.stars, .value5)
    expect(added.selfValue, "me")
    expect(added.container, "box")
    expect(added.copies, .string("many"))
    _ = try await client.send(SetNote(bookID: id, content: BodySetNoteBooksBookIDNotePut(note: "ü")))
    _ = try await client.send(DeleteBook(bookID: id))
  }

  private func failures() async throws {
    do {
      _ = try await client.send(DeleteBook(bookID: UUID()))
      expect("no failure", "404")
    } catch {
      expect(error.status, 404)
      expect(error.body(as: Problem.self), Problem(reason: "no such book"))
    }
    do {
      _ = try await client.send(AddBook(newBook: NewBook(title: "", genre: .other("odd"))))
      expect("no failure", "422")
    } catch {
      expect(error.status, 422)
      let details = error.body(as: HTTPValidationError.self)?.detail ?? []
      expect(details.map(\.loc), [[.string("body"), .string("title")], [.string("body"), .string("genre")]])
    }
  }

  private func parameters() async throws {
    let trace = UUID()
    let found = try await client.send(
      Search(
        searchText: "a&b=c ü", genres: [.nonFiction, .value5050], since: Date(timeIntervalSince1970: 0),
        day: Library.CalendarDate(year: 2026, month: 2, day: 3), stars: .value1, pathValue: "/x?y", xTrace: trace,
        xParts: ["p", "q"], session: "s1"))
    expect(found["q"], "a&b=c ü")
    expect(found["genres"], "non-fiction 50/50")
    expect(found["since"], "1970-01-01T00:00:00+00:00")
    expect(found["day"], "2026-02-03")
    expect(found["stars"], "1")
    expect(found["path"], "/x?y")
    expect(found["trace"], trace.uuidString.lowercased())
    expect(found["parts"], "p,q")
    expect(found["session"], "s1")
    let bare = try await client.send(Search(searchText: "ab"))
    expect(bare["session"], .some(nil))
    let filter = try await client.send(Filtered(limit: 3, order: .down, words: ["x", "y"]))
    expect(filter, Filter(limit: 3, order: .down, words: ["x", "y"]))
    expect(try await client.send(Locate(name: "a b/c?d")), "a b/c?d")
    let day = try await client.send(FindDay(day: Library.CalendarDate(year: 2026, month: 12, day: 31)))
    expect(day, Library.CalendarDate(year: 2027, month: 1, day: 1))
  }

  private func shapes() async throws {
    let circle = try await client.send(DoubleShape(content: .circle(Circle(kind: .circle, radius: 2))))
    expect(circle, .circle(Circle(kind: .circle, radius: 4)))
    let inner = SquareInput(kind: .square, side: 1)
    let square = SquareInput(kind: .square, side: 3, nested: .squareInput(inner))
    let doubled = try await client.send(DoubleShape(content: .squareInput(square)))
    let nested = SquareOutput.Nested.squareOutput(SquareOutput(kind: .square, side: 1))
    expect(doubled, .squareOutput(SquareOutput(kind: .square, side: 6, nested: nested)))
  }

  private func treesAndNumbers() async throws {
    let leaf = TreeInput(value: 1)
    let mirrored = try await client.send(MirrorTree(treeInput: TreeInput(value: 2, left: leaf, children: [leaf])))
    expect(mirrored.value, 3)
    expect(mirrored.left?.left?.value, 1)
    expect(mirrored.left?.left?.left, nil)
    expect(mirrored.children?.map(\.value), [1])
    expect(try await client.send(AddNumbers(content: [1, 2, 39])), 42)
    let mixed = try await client.send(Mixed(content: [.int(1), .string("a"), nil, .bool(true)]))
    expect(mixed, [.bool(true), nil, .string("a"), .int(1)])
    let extra = Extra(key: "k", additionalProperties: ["more": ["a", 1, nil]])
    expect(try await client.send(EchoExtra(extra: extra)), extra)
  }

  private func forms() async throws {
    let folder = FileManager.default.temporaryDirectory
    let file = folder.appending(path: "proof-\(UUID().uuidString).txt")
    try Data(repeating: 7, count: 100_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try await client.send(
      Upload(shelf: 4, title: "Ü \"t\"", picture: file, more: [file, file], stars: .value5, note: nil))
    expect(result["size"], .int(100_000))
    expect(result["more"], .int(2))
    expect(result["title"], .string("Ü \"t\""))
    expect(result["stars"], .int(5))
    expect(result["note"], .string(""))
    let login = Login(content: BodyLoginLoginPost(user: "a b&c", scopes: ["x", "y=z"]))
    expect(try await client.send(login), "a b&c:x+y=z")
    expect(try await client.send(Raw(content: .file(file, type: "application/octet-stream"))), 100_000)
    expect(try await client.send(Raw(content: .bytes(Data([1, 2, 3])))), 3)
  }

  private func bytesAndTexts() async throws {
    let picture = try await client.send(Picture())
    expect(picture.count, 16_384)
    expect(picture.last, 255)
    expect(try await client.send(Text()), "plain ü")
    _ = try await client.send(Source())
  }

  private func rest() async throws {
    expect(try await client.send(Me()), "secret-token")
    _ = try await client.send(Ping())
    _ = try await client.send(NothingRequest())
    let open = APIClient(baseURL: CommandLine.arguments[1])
    do {
      _ = try await open.send(Me())
      expect("no failure", "401")
    } catch {
      expect([401, 403].contains(error.status ?? 0), true)
    }
  }
}
