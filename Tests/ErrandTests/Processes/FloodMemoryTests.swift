import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The memory that a flood or a decompression bomb takes in a process that does nothing else.
@Suite(.serialized) struct FloodMemoryTests {
  struct Flood: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The mode in which the probe process reads the response.
    var mode = "memory"
    let answer: LoopbackAnswer
    var end = "tooLarge"

    init(_ name: String, _ answer: LoopbackAnswer, mode: String = "memory", end: String = "tooLarge") {
      testDescription = name
      self.answer = answer
      self.mode = mode
      self.end = end
    }
  }

  /// A start, and then the same text until the client closes the connection.
  private static func endless(_ head: String, _ again: String) -> LoopbackAnswer {
    let again = String(repeating: again, count: (1 << 16) / again.utf8.count)
    return LoopbackAnswer([.bytes(Array(head.utf8)), .bytes(Array(again.utf8), times: nil)])
  }

  private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

  private static let page = LoopbackAnswer([
    .head(status: 302, headers: ["Location": "/there", "Content-Length": "\(256 << 20)"]),
    .body([UInt8](repeating: 0x61, count: 1 << 20), times: 256),
  ])

  static let floods = [
    Flood("exactly 32 MiB", .generated(count: 32 << 20), end: "answer"),
    Flood("over 32 MiB", .generated(count: (32 << 20) + 1)),
    Flood("endless", .endless()),
    Flood("endless chunks", .endless(chunked: true)),
    Flood("endless field", endless("HTTP/1.1 200 OK\r\nX: ", "x")),
    Flood("endless fields", endless("HTTP/1.1 200 OK\r\n", "a: b\r\n")),
    Flood("endless chunk extension", endless(chunked + "1;", "a=b;")),
    Flood("endless trailers", endless(chunked + "1\r\na\r\n0\r\n", "a: b\r\n")),
    Flood("endless informational responses", endless("", "HTTP/1.1 103 Early Hints\r\n\r\n")),
    Flood("redirect with a page of 256 MiB", page, end: "answer"),
    Flood("gzip bomb", Bomb.gzip),
    Flood("zstd bomb", Bomb.zstd),
    Flood("gzip bomb in a stream", Bomb.gzip, mode: "stream"),
    Flood("zstd bomb in a stream", Bomb.zstd, mode: "stream"),
    Flood("endless line", endless("HTTP/1.1 200 OK\r\n\r\n", "x"), mode: "lines"),
  ]

  @Test(arguments: floods) func `flood takes less than 64 MiB`(flood: Flood) async throws {
    let server = try LoopbackServer { request in
      switch request.path {
      case "/flood": flood.answer
      default: .ok("right")
      }
    }
    let (growth, end) = try await MemoryProbe.run(flood.mode, server.url)
    print("\(flood.testDescription): \(growth >> 10) KiB more")
    #expect(end == flood.end)
    if !isSanitized { #expect(growth < 64 << 20, "\(growth)") }
  }

  @Test func `a gibibyte streams in constant memory`() async throws {
    let server = try LoopbackServer { $0.path == "/flood" ? .generated(count: 1 << 30) : .ok("warm") }
    let (growth, end) = try await MemoryProbe.run("stream", server.url)
    #expect(end == "answer")
    if !isSanitized { #expect(growth < 16 << 20, "\(growth)") }
  }
}
