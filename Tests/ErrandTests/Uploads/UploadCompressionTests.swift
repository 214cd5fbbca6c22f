import Errand
import ErrandTesting
import Foundation
import Testing
import TransportChecks

struct UploadCompressionTests {
  /// Decompresses gzip with the system's command.
  private static func gunzip(_ bytes: [UInt8], _ folder: UploadFolder) throws -> Data {
    let coded = try folder.file("coded", Data(bytes))
    let plain = try folder.file("plain", Data())
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc"]
    process.standardInput = try FileHandle(forReadingFrom: coded)
    process.standardOutput = try FileHandle(forWritingTo: plain)
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "gzip refuses \(bytes.count) bytes")
    return try Data(contentsOf: plain)
  }

  @Test(arguments: [0, 1, 1_000, 16_384, 16_385, 3_000_000])
  func `compressed body decompresses to the original`(size: Int) async throws {
    let folder = try UploadFolder()
    let bytes = UploadFolder.bytes(size)
    let file = try folder.file("f", bytes)
    let server = try LoopbackServer(.uploads(keeping: 8 << 20)) { _ in .ok("taken") }
    let client = APIClient(baseURL: server.url)
    for (body, isKnown) in [
      (RequestBody.bytes(bytes), size <= 16_384), (.file(file, type: "text/plain"), false),
      (PieceSource.body(size > 0 ? [.bytes(Array(bytes))] : []), false),
    ] {
      #expect(try await client.send(Upload(body.compressed())) == "taken")
      let seen = try #require(server.requests.last)
      #expect(seen.headers["Content-Encoding"] == "gzip")
      #expect((seen.headers["Content-Length"] != nil) == isKnown)
      #expect((seen.headers["Transfer-Encoding"] == "chunked") == !isKnown)
      #expect(try Self.gunzip(seen.body, folder) == bytes)
    }
  }

  @Test func `compressed body keeps Expect`() async throws {
    let bench = ScriptedClient()
    let body = RequestBody.body(HTTPBody(Data([1])).expectingContinue()).compressed()
    #expect(try await bench.sent(Sending(method: .put, body: body))?.body?.expectsContinue == true)
  }

  @Test func `random bytes round-trip at every level`() async throws {
    var random = SeededNumbers(seed: 1)
    let bytes = Data((0..<400_000).map { _ in UInt8.random(in: 0...255, using: &random) })
    let folder = try UploadFolder()
    let server = try LoopbackServer { _ in .ok() }
    for level in [-1, 1, 9, 99] {
      _ = try await APIClient(baseURL: server.url).send(Upload(.bytes(bytes).compressed(.gzip(level: level))))
      #expect(try Self.gunzip(try #require(server.requests.last?.body), folder) == bytes)
    }
  }

  @Test func `failing source fails when compressed`() async throws {
    let server = try LoopbackServer { _ in .ok() }
    let client = APIClient(baseURL: server.url)
    let error = try await failure(client, Upload(PieceSource.body([.bytes([1]), .fail]).compressed()))
    #expect(error.transportKind == .bodySource && error.cause is PieceSource.Fault)
    let short = try await failure(client, Upload(PieceSource.body([.bytes([1])], length: 2).compressed()))
    #expect(short.transportKind == .bodyChanged)
    #expect(server.requests.isEmpty)
  }

  @Test func `compressed source may have no data yet`() async throws {
    let folder = try UploadFolder()
    let server = try LoopbackServer { _ in .ok("taken") }
    let body = PieceSource.body(
      [.later, .bytes([1, 2]), .later, .bytes([3])], onLater: { flow in Thread.detachNewThread { flow.resume() } })
    #expect(try await APIClient(baseURL: server.url).send(Upload(body.compressed())) == "taken")
    #expect(try Self.gunzip(try #require(server.requests.last?.body), folder) == Data([1, 2, 3]))
  }
}
