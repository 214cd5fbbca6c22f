import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// Response bodies that are written to file handles, over real sockets.
struct FileHandleTests {
  private struct Person: Decodable, Sendable { let name: String }

  private struct GetPerson: APIRequest {
    typealias Response = Person
    var path: Path { "/person" }
  }

  private struct GetBytes: APIRequest {
    typealias Response = Data
    var path: Path
  }

  /// A new file that contains `text`, open for writing at its end.
  private func file(_ text: String = "") throws -> (handle: FileHandle, url: URL) {
    let url = FileManager.default.temporaryDirectory.appending(path: "errand-handle-\(UUID().uuidString)")
    try Data(text.utf8).write(to: url)
    let handle = try FileHandle(forWritingTo: url)
    try handle.seekToEnd()
    return (handle, url)
  }

  @Test func `body is written at the handle's offset`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"name":"Ada"}"#) }
    let (handle, url) = try file("before ")
    defer { try? FileManager.default.removeItem(at: url) }
    let answer = try await APIClient(baseURL: server.url).send(GetPerson(), into: handle)
    #expect(answer.status == 200 && answer.body.isEmpty)
    try handle.write(contentsOf: Data(" after".utf8))
    #expect(try String(contentsOf: url, encoding: .utf8) == #"before {"name":"Ada"} after"#)
  }

  @Test func `redirect is followed before writing`() async throws {
    let server = try LoopbackServer { $0.path == "/person" ? .redirect(to: "/there") : .ok("here") }
    let (handle, url) = try file()
    defer { try? FileManager.default.removeItem(at: url) }
    try await APIClient(baseURL: server.url).send(GetPerson(), into: handle)
    #expect(try String(contentsOf: url, encoding: .utf8) == "here")
  }

  @Test func `decompression bomb does not fill the disk`() async throws {
    let server = try LoopbackServer { $0.path == "/next" ? .ok("right") : Bomb.zstd }
    let client = APIClient(baseURL: server.url)
    client.configure { $0.limits.expansion = BodyExpansion(ratio: 100, freeBytes: 1 << 20) }
    let (handle, url) = try file()
    defer { try? FileManager.default.removeItem(at: url) }
    let error = await #expect(throws: APIError.self) { try await client.send(GetPerson(), into: handle) }
    #expect(error?.code.rawValue == "tooLarge" && error?.message.contains("raise `limits.expansion`") == true)
    #expect(try Data(contentsOf: url).count <= 1 << 20)
    #expect(try await client.send(GetBytes(path: "/next")) == Data("right".utf8))
  }

  @Test func `refused redirect writes nothing`() async throws {
    let server = try LoopbackServer { _ in .status(302, headers: ["Location": "/next"], body: "moved") }
    let (handle, url) = try file()
    defer { try? FileManager.default.removeItem(at: url) }
    let request = Ask<Data>(redirects: .never, statusRule: .any)
    let error = await #expect(throws: APIError.self) {
      try await APIClient(baseURL: server.url).send(request, into: handle)
    }
    #expect(error?.code == .redirectRefused)
    #expect(try Data(contentsOf: url).isEmpty)
  }

  @Test func `error page writes nothing`() async throws {
    let server = try LoopbackServer { _ in .status(404, body: "no such person") }
    let (handle, url) = try file()
    defer { try? FileManager.default.removeItem(at: url) }
    let error = await #expect(throws: APIError.self) {
      try await APIClient(baseURL: server.url).send(GetPerson(), into: handle)
    }
    #expect(error?.code == .status && error?.response?.body == Data("no such person".utf8))
    #expect(try Data(contentsOf: url).isEmpty)
  }

  @Test func `shape and file handle exclude each other`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let (handle, url) = try file()
    defer { try? FileManager.default.removeItem(at: url) }
    let error = await #expect(throws: APIError.self) {
      try await APIClient(baseURL: server.url).send(Ask<String>(shape: .string), into: handle)
    }
    #expect(error?.code == .unsupported && server.requests.isEmpty)
  }

  @Test func `every method ends after the last byte`() async throws {
    let size = 3_000_000
    let server = try LoopbackServer { _ in .generated(count: size) }
    let client = APIClient(baseURL: server.url)
    for _ in 0..<20 {
      let (handle, url) = try file()
      defer { try? FileManager.default.removeItem(at: url) }
      let options = CallOptions.writing(to: handle)
      let written = await withCheckedContinuation { continuation in
        client.start(outcomeOf: GetBytes(path: "/big"), on: .inPlace, options: options) { outcome in
          continuation.resume(returning: outcome.error == nil ? (try? Data(contentsOf: url))?.count : nil)
        }
      }
      #expect(written == size)
    }
  }

  @Test func `slow reader slows the server`() async throws {
    let resource = RangeResource(size: 32 << 20)
    let server = try RangeServer(RangeBehaviour(resource))
    let pipe = Pipe()
    async let answer = APIClient(baseURL: server.loopback.url).send(
      GetBytes(path: RequestPath(stringLiteral: server.url)), into: pipe.fileHandleForWriting)
    // The pipe is full, so all bytes served now are in buffers.
    try await server.served(atLeast: 1 << 20)
    #expect(server.servedBytes < 16 << 20)
    var place = 0
    while place < resource.size {
      let piece = try #require(try pipe.fileHandleForReading.read(upToCount: 1 << 20))
      try #require(resource.has(piece, at: place), "a byte differs from offset \(place) on")
      place += piece.count
    }
    #expect(try await answer.status == 200)
  }

  @Test func `pipe without a reader is an error`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 1_000_000) }
    let client = APIClient(baseURL: server.url)
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let error = await #expect(throws: APIError.self) {
      try await client.send(GetBytes(path: "/big"), into: pipe.fileHandleForWriting)
    }
    #expect(error?.transportKind == .sink)
    #expect(error?.message.contains("Broken pipe") == true, "\(error?.message ?? "")")
    #expect(try await client.send(GetBytes(path: "/big")).count == 1_000_000)
  }

  @Test func `full device is an error`() async throws {
    let server = try LoopbackServer { _ in .ok("too much") }
    let handle = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let error = await #expect(throws: APIError.self) {
      try await APIClient(baseURL: server.url).send(GetPerson(), into: handle)
    }
    #expect(error?.transportKind == .sink)
    #expect(error?.message.contains("no space left") == true, "\(error?.message ?? "")")
  }

  @Test func `closed handle is an error`() async throws {
    let server = try LoopbackServer { _ in .ok("late") }
    let (handle, url) = try file()
    defer { try? FileManager.default.removeItem(at: url) }
    try handle.close()
    let error = await #expect(throws: APIError.self) {
      try await APIClient(baseURL: server.url).send(GetPerson(), into: handle)
    }
    #expect(error?.transportKind == .sink)
  }

  @Test(arguments: [true, false]) func `stalled reader ends by deadline or cancel`(isDeadline: Bool) async throws {
    let server = try LoopbackServer { _ in .endless() }
    let client = APIClient(baseURL: server.url)
    let pipe = Pipe()
    let options = CallOptions(timeouts: Timeouts(total: isDeadline ? .milliseconds(300) : .never))
    let task = Task { () throws(APIError) in
      try await client.send(GetBytes(path: "/endless"), into: pipe.fileHandleForWriting, options: options)
    }
    if !isDeadline {
      // The read blocks a thread of the pool, so the call must need no thread of the pool any more.
      try await server.request(number: 1)
      _ = try pipe.fileHandleForReading.read(upToCount: 1)
      client.cancelAll()
    }
    let error = await #expect(throws: APIError.self) { try await task.value }
    #expect(error?.stage == (isDeadline ? .deadline : .cancelled))
    // Nothing is written any more, so the pipe ends after the bytes that it holds.
    try pipe.fileHandleForWriting.close()
    #expect(try pipe.fileHandleForReading.readToEnd()?.count ?? 0 <= 1 << 17)
  }
}
