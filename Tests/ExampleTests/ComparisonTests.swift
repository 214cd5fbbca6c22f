import ErrandTesting
import Foundation
import Testing

@testable import ExampleComparison

/// The five tasks of the guide "Five tasks compared", with Errand and with URLSession.
struct ComparisonTests {
  static let libraries: [any FiveTasks.Type] = [ErrandTasks.self, URLSessionTasks.self]

  /// A server for the five tasks. It records the renewals of tokens, the uploaded bodies and the reads of the list.
  private struct Server {
    let renewals = Recorded<String>()
    let uploads = Recorded<Int>()
    let lists = Recorded<String>()
    private let server: LoopbackServer
    var url: String { server.url }

    init() throws {
      let (renewals, uploads, lists) = (renewals, uploads, lists)
      server = try LoopbackServer { request in
        let ada = #"{"nick":"Ada"}"#
        switch (request.method, request.path) {
        case ("GET", "/users/7"): return request.target.hasSuffix("?verbose=true") ? .json(ada) : .status(404)
        case ("POST", "/users"):
          let isAda = String(decoding: request.body, as: UTF8.self) == ada
          return isAda ? .json(ada, status: 201) : .json(#"{"message":"The nick is taken."}"#, status: 422)
        case ("PUT", "/photos/7"):
          uploads.append(request.body.count)
          return .status(204)
        case ("POST", "/token"):
          renewals.append(request.target)
          return .json(#"{"token":"new"}"#)
        case ("GET", "/profiles/1"), ("GET", "/profiles/2"), ("GET", "/profiles/3"):
          return request.headers["Authorization"] == "Bearer new" ? .json(ada) : .status(401)
        case ("GET", "/users"):
          lists.append(request.target)
          return .json("[\(ada)]")
        default: return .status(404)
        }
      }
    }
  }

  @Test(arguments: libraries) func `a user is read`(library: any FiveTasks.Type) async throws {
    let server = try Server()
    #expect(try await library.init(base: server.url).user(id: 7) == User(nick: "Ada"))
    await #expect(throws: (any Error).self) { try await library.init(base: server.url).user(id: 8) }
  }

  @Test(arguments: libraries) func `the reason of a rejection is read`(library: any FiveTasks.Type) async throws {
    let server = try Server()
    let tasks = library.init(base: server.url)
    #expect(try await tasks.register(User(nick: "Ada")) == User(nick: "Ada"))
    let error = await #expect(throws: Rejected.self) { try await tasks.register(User(nick: "Bob")) }
    #expect(error?.message == "The nick is taken.")
  }

  @Test(arguments: libraries) func `the progress of an upload is reported`(library: any FiveTasks.Type) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "errand-comparison-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(count: 1 << 20).write(to: file)
    let server = try Server()
    let reports = Recorded<Int64>()
    try await library.init(base: server.url).upload(file) { reports.append($0) }
    #expect(server.uploads.all == [1 << 20])
    #expect(reports.all.last == 1 << 20 && reports.all == reports.all.sorted())
  }

  @Test(arguments: libraries) func `a token is renewed once`(library: any FiveTasks.Type) async throws {
    let server = try Server()
    let tasks = library.init(base: server.url)
    try await withThrowingTaskGroup(of: User.self) { group in
      for id in 1...3 { group.addTask { try await tasks.profile(id: id) } }
      for try await user in group { #expect(user == User(nick: "Ada")) }
    }
    #expect(server.renewals.all.count == 1)
  }

  @Test(arguments: libraries) func `a list is read once`(library: any FiveTasks.Type) async throws {
    let server = try Server()
    let tasks = library.init(base: server.url)
    for _ in 0..<3 { #expect(try await tasks.list() == [User(nick: "Ada")]) }
    #expect(server.lists.all.count == 1)
  }
}
