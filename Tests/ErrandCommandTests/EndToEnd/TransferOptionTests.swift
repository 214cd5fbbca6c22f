import Errand
import ErrandTesting
import ErrandTransfer
import Foundation
import TestSupport
import Testing

@testable import ErrandCommand

/// Each option has its effect.
struct TransferOptionTests {
  private static let content = RangeResource(size: 6 << 20)

  /// The checksum of the file in hexadecimal digits.
  private static func sum() throws -> String {
    let options = try DownloadParser.parse(["h", "--sha256", String(repeating: "0", count: 64)])
    let hash = try #require(options.checksum).makeHash()
    content.bytes(in: 0..<content.size).withUnsafeBytes { hash.update($0) }
    return hash.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test func `parallel ranges match the checksum`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.content))
    try await DownloadFolder.with { folder async throws in
      let run = try await folder.download(
        server.url, "-d", folder.path, "--parallel", "4", "--sha256", try Self.sum(), "-H", "X-A: 1", "--bearer", "t")
      #expect(run.status == 0 && run.error.contains("sha-256 verified"), "\(run.error)")
      #expect(try Self.content.firstDifference(folder.bytes("file.bin")) == nil)
      #expect(try folder.bytes("file.bin").count == Self.content.size && folder.names() == ["file.bin"])
      #expect(server.requests.count > 1 && server.requests.allSatisfy { $0.range != nil })
      let fields = server.loopback.requests.map(\.headers)
      #expect(fields.allSatisfy { $0["X-A"] == "1" && $0["Authorization"] == "Bearer t" })
    }
  }

  @Test func `the server names the file`() async throws {
    let server = try RangeServer(
      RangeBehaviour(Self.content) { $0.fields["Content-Disposition"] = "attachment; filename=\"film.mp4\"" })
    try await DownloadFolder.with { folder async throws in
      let run = try await folder.download(server.url, "-d", folder.path, "-J")
      #expect(run.status == 0 && run.error.contains("film.mp4: done"), "\(run.error)")
      #expect(try folder.names() == ["film.mp4"])
    }
  }

  @Test(arguments: [("attachment; filename=\"film.mp4\"", "film.mp4"), ("inline", "download")])
  func `-J needs no name in the URL`(disposition: String, name: String) async throws {
    let server = try LoopbackServer { _ in .ok("film").setting("Content-Disposition", to: disposition) }
    try await DownloadFolder.with { folder async throws in
      let run = try await folder.download(server.url + "/latest/", "-d", folder.path, "-J")
      #expect(run.status == 0, "\(run.error)")
      #expect(try folder.names() == [name])
      let plain = try await folder.download(server.url + "/latest/", "-d", folder.path)
      #expect(plain.status == 64 && plain.error.contains("-o, or use the server's name with -J"), "\(plain.error)")
    }
  }

  @Test func `--wait waits for the other download`() async throws {
    let server = try RangeServer(RangeBehaviour(Self.content))
    try await DownloadFolder.with { folder async throws in
      let part = try PartFile.open(target: folder.file("file.bin"))
      #expect(try await folder.download(server.url, "-d", folder.path).status == 75)
      let vain = try await folder.download(server.url, "-d", folder.path, "--wait", "--timeout", "1")
      #expect(vain.status == 28 && server.requests.isEmpty, "\(vain.error)")
      let run = try await folder.download(server.url, "-d", folder.path, "--wait") { _ in part.close() }
      #expect(run.status == 0, "\(run.error)")
      #expect(try folder.names() == ["file.bin"])
    }
  }

  @Test func `changed files and time-outs have exit statuses`() async throws {
    let gate = Gate()
    let deviating = try RangeServer(RangeBehaviour(Self.content) { $0.deviation = .unrequested(0..<1_000) })
    let silent = try RangeServer(RangeBehaviour(Self.content) { $0.fault = .stall(after: 1_000, until: gate) })
    try await DownloadFolder.with { folder async throws in
      let changed = try await folder.download(deviating.url, "-d", folder.path)
      #expect(changed.status == 33, "\(changed.error)")
      #expect(try folder.names() == [])
      let late = try await folder.download(silent.url, "-d", folder.path, "--timeout", "1")
      #expect(late.status == 28 && late.error.contains("use --timeout to change this limit"), "\(late.error)")
      #expect(try !folder.names().contains("file.bin"))
    }
    gate.open()
  }

  @Test func `an upload has a time-out`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stall(until: gate) }
    try await DownloadFolder.with { folder async throws in
      try Data("abc".utf8).write(to: folder.url.appending(path: "f"))
      let run = try await BuiltCommand.run(["upload", folder.file("f"), server.url, "--timeout", "1"])
      #expect(run.status == 28, "\(run.error)")
    }
    gate.open()
  }

  @Test func `an upload can be compressed`() async throws {
    // The server returns the body with its content coding, so that the command decodes it.
    let server = try LoopbackServer { request in
      .data(request.body).setting("Content-Encoding", to: request.headers["Content-Encoding"] ?? "none")
    }
    let bytes = Data((0..<20_000).map(String.init).joined(separator: " ").utf8)
    try await DownloadFolder.with { folder async throws in
      try bytes.write(to: folder.url.appending(path: "f"))
      let run = try await BuiltCommand.run(["upload", folder.file("f"), server.url, "--gzip", "-q"])
      #expect(run.status == 0 && run.output == bytes, "\(run.error)")
      let request = try #require(server.requests.first)
      #expect(request.headers["Content-Encoding"] == "gzip" && request.body.count < bytes.count)
    }
  }
}
