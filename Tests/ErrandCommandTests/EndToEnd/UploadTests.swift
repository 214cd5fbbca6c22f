import ErrandTesting
import Foundation
import TestSupport
import Testing

struct UploadTests {
  private static let bytes = Data((0..<300_000).map { UInt8($0 % 251) })

  private func upload(_ words: String...) async throws -> BuiltCommand.Run {
    try await BuiltCommand.run(["upload"] + words)
  }

  /// A folder with a file of 300,000 bytes.
  private func withFile(_ name: String, _ body: (DownloadFolder, String) async throws -> Void) async throws {
    try await DownloadFolder.with { folder async throws in
      try Self.bytes.write(to: folder.url.appending(path: name))
      try await body(folder, folder.file(name))
    }
  }

  @Test func `a file is sent by PUT`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"id":7}"#, status: 201) }
    try await withFile("cat.jpg") { _, file async throws in
      let run = try await upload(file, server.url + "/cats/")
      #expect(run.status == 0 && run.text == #"{"id":7}"#, "\(run.error)")
      let request = try #require(server.requests.first)
      #expect(request.method == "PUT" && request.path == "/cats/cat.jpg" && request.body == Array(Self.bytes))
      #expect(request.headers["Content-Type"] == "image/jpeg" && request.headers["Content-Length"] == "300000")
      #expect(run.error.hasPrefix("cat.jpg: ") && run.error.contains("cat.jpg: done, 29"), "\(run.error)")
    }
  }

  @Test func `a form has fields and a file`() async throws {
    let server = try LoopbackServer { _ in .ok("ok") }
    try await withFile("cat.jpg") { _, file async throws in
      let run = try await upload(
        file, server.url, "--field", "title=A cat", "--field", "n:=[1]", "--name", "image", "-q")
      #expect(run.status == 0 && run.error == "" && run.text == "ok")
      let request = try #require(server.requests.first)
      #expect(request.method == "POST")
      let text = String(decoding: request.body.prefix(600), as: UTF8.self)
      for part in [#"name="title""#, "A cat", #"name="n""#, "[1]", #"name="image"; filename="cat.jpg""#] {
        #expect(text.contains(part), "\(part)")
      }
    }
  }

  @Test func `a rejected upload shows its body`() async throws {
    let server = try LoopbackServer { _ in .json(#"{"why":"full"}"#, status: 507) }
    try await withFile("f") { _, file async throws in
      let run = try await upload(file, server.url)
      #expect(run.status == 22 && run.text == #"{"why":"full"}"#)
      #expect(run.error.contains("f: failed\nerrand: The server answered 507"))
    }
  }

  @Test func `failures have their own exit statuses`() async throws {
    let port = try RefusingPort()
    try await withFile("f") { folder, file async throws in
      #expect(try await upload(file, "127.0.0.1:\(port.port)").status == 7)
      let missing = try await upload(folder.file("none"), "127.0.0.1:\(port.port)")
      #expect(missing.status == 66 && missing.error.hasPrefix("errand: No such file: “"))
      #expect(try await upload(folder.path, "127.0.0.1:\(port.port)").status == 66)
      #expect(try await upload(file).status == 64)
    }
  }
}
