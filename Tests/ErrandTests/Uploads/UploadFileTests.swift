import Errand
import ErrandTesting
import Foundation
import Testing

struct UploadFileTests {
  @Test(arguments: [0, 1, 16_384, 16_385, 700_001])
  func `file arrives unchanged`(size: Int) async throws {
    let folder = try UploadFolder()
    let bytes = UploadFolder.bytes(size)
    let server = try LoopbackServer { _ in .ok("taken") }
    let client = APIClient(baseURL: server.url)
    #expect(try await client.send(Upload(.file(folder.file("cat.jpg", bytes)))) == "taken")
    let seen = try await server.request(number: 1)
    #expect(Data(seen.body) == bytes && seen.method == "PUT")
    #expect(seen.headers["Content-Length"] == "\(size)" && seen.headers["Transfer-Encoding"] == nil)
    #expect(seen.headers["Content-Type"] == "image/jpeg" && seen.headers["Expect"] == nil)
  }

  @Test(arguments: [("a.PNG", "image/png"), ("b.tar.gz", "application/gzip"), ("c", "application/octet-stream")])
  func `content type follows the file extension`(name: String, type: String) async throws {
    let folder = try UploadFolder()
    let bench = ScriptedClient()
    let file = try folder.file(name, Data([1]))
    #expect(try await bench.sent(Sending(method: .post, body: .file(file)))?.fields[.contentType] == type)
    let own = try await bench.sent(Sending(method: .post, body: .file(file, type: "x/y")))
    #expect(own?.fields[.contentType] == "x/y" && own?.body?.data == Data([1]))
  }

  @Test func `range of a file is sent`() async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f", Data("0123456789".utf8))
    let server = try LoopbackServer { _ in .ok() }
    let body = RequestBody.body(try .file(file, range: 3..<7), type: "text/plain")
    _ = try await APIClient(baseURL: server.url).send(Upload(body))
    #expect(try await server.request(number: 1).bodyText == "3456")
    #expect(throws: APIError.self) { try HTTPBody.file(file, range: 3..<11) }
  }

  @Test func `unreadable file is named`() async throws {
    let folder = try UploadFolder()
    _ = try folder.file("f", Data([1]))
    let pipe = folder.url.appending(path: "pipe")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    let remote = try #require(URL(string: "https://example.com/f"))
    for (url, words) in [
      (folder.url.appending(path: "gone.jpg"), ["gone.jpg", "No such file"]), (folder.url, ["it is a directory"]),
      (pipe, ["pipe", "not a regular file"]), (folder.url.appending(path: "f\0.png"), ["contains a NUL"]),
      (remote, ["https://example.com/f", "is not a file URL"]),
    ] {
      for body in [RequestBody.file(url), .multipart([.file("f", url)])] {
        let bench = ScriptedClient()
        let error = try #require(await bench.failure(of: Upload(body)))
        #expect(error.stage == .build && error.code == .invalidBody)
        for word in words { #expect(error.message.contains(word), "\(error)") }
        #expect(bench.transport.requests.isEmpty)
      }
    }
  }

  @Test(arguments: [UInt64(3_000_000), 40_000_000])
  func `file that changes during sending fails`(size: UInt64) async throws {
    let folder = try UploadFolder()
    let file = try folder.sparse("f", 30_000_000)
    let gate = Gate()
    let server = try LoopbackServer(.uploads(keeping: 0, .held(gate))) { _ in .ok("taken") }
    let client = APIClient(baseURL: server.url)
    async let outcome = client.outcome(of: Upload(.file(file)))
    try await gate.reached()
    try folder.resize(file, size)
    gate.open()
    let error = try #require(await outcome.error)
    #expect(error.transportKind == .bodyChanged && error.message.contains(file.lastPathComponent), "\(error)")
    try await server.wait { $0.abandoned.count == 1 }
    #expect(server.requests.isEmpty)
    #expect(try await client.send(Upload(.text("next"))) == "taken")
    #expect(try await server.request(number: 1).connection == 2)
  }

  @Test func `file changed before sending is refused`() async throws {
    let folder = try UploadFolder()
    for size in [0, 4] {
      let file = try folder.file("f\(size)", Data(count: size))
      let server = try LoopbackServer { _ in .ok() }
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.interceptors.calls = [
        Around { request, _, next in
          try Data(repeating: 1, count: 9).write(to: file)
          return try await next(request)
        }
      ]
      let error = try await failure(APIClient(configuration), Upload(.file(file)))
      #expect(error.transportKind == .bodyChanged, "\(error)")
      #expect(server.requests.isEmpty)
    }
  }
}
