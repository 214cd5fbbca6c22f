import ErrandTesting
import Foundation

/// One fault of a server.
struct Fault {
  let name: String
  /// Whether the table shows the number of requests to the server.
  var countsHops = false
  /// Whether a response is a correct outcome.
  var mayBeAnswered = false
  /// The response to a request; `stranger` is the URL of another origin.
  let answer: @Sendable (_ request: RecordedRequest, _ stranger: String) -> LoopbackAnswer

  init(_ name: String, mayBeAnswered: Bool = false, _ answer: LoopbackAnswer) {
    self.name = name
    self.mayBeAnswered = mayBeAnswered
    self.answer = { _, _ in answer }
  }

  init(_ name: String, head: String, _ body: String = "ab") {
    self.init(name, .raw("HTTP/1.1 200 OK\r\n" + head + "\r\n" + body))
  }

  init(
    _ name: String, countsHops: Bool = false, mayBeAnswered: Bool = false,
    answer: @escaping @Sendable (RecordedRequest, String) -> LoopbackAnswer
  ) {
    self.name = name
    self.countsHops = countsHops
    self.mayBeAnswered = mayBeAnswered
    self.answer = answer
  }

  /// The same text without bold type.
  static func plain(_ words: String) -> String {
    guard let start = words.range(of: "**accepted as "), let end = words[start.upperBound...].range(of: "**") else {
      return words
    }
    return "\(words[..<start.lowerBound])\(words[start.upperBound..<end.lowerBound])\(words[end.upperBound...])"
  }

  static func all() throws -> [Fault] { connection + framing + heads + redirects + (try content()) }

  private static let connection = [
    Fault("closed before a byte", .closeBeforeAnswer),
    Fault("reset in the head", .ok("hello").reset(after: 30, of: .everything)),
    Fault("closed in the head", .ok("hello").cut(after: 30, of: .everything)),
    Fault("closed short of Content-Length", .ok("hello").cut(after: 2)),
    Fault("reset in the body", .generated(count: 500_000).reset(after: 400_000)),
    Fault("chunked, no last chunk", .chunked(["one", "two"], isComplete: false)),
    Fault("silence after the request", .stall()), Fault("stall in the body", .ok("hello").stalled(after: 2)),
  ]

  private static let framing = [
    Fault("two lengths that differ", head: "Content-Length: 2\r\nContent-Length: 3\r\n", "abc"),
    Fault("a negative length", head: "Content-Length: -2\r\n"),
    Fault("a length with letters", head: "Content-Length: 2x\r\n"),
    Fault("a huge length", head: "Content-Length: 9223372036854775808\r\n"),
    Fault(
      "Content-Length with chunked", head: "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\nab\r\n0\r\n\r\n"
    ),
    Fault("chunked twice", head: "Transfer-Encoding: chunked, chunked\r\n", "2\r\nab\r\n0\r\n\r\n"),
    Fault("chunked not last", head: "Transfer-Encoding: chunked, gzip\r\n", "2\r\nab\r\n0\r\n\r\n"),
    Fault("a chunk size of letters", head: "Transfer-Encoding: chunked\r\n", "zz\r\nab\r\n0\r\n\r\n"),
    Fault("a chunk beyond its size", head: "Transfer-Encoding: chunked\r\n", "2\r\nabc\r\n0\r\n\r\n"),
    Fault(
      "bytes after the end", mayBeAnswered: true,
      .ok("right").extra("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")),
  ]

  private static let heads = [
    Fault("no HTTP at all", .raw("SSH-2.0-OpenSSH_9.2\r\n")), Fault("HTTP/3.7", .raw("HTTP/3.7 200 OK\r\n\r\nab")),
    Fault("a line without colon", head: "Content-Length 2\r\n"),
    Fault("NUL in a field", head: "X: a\0b\r\nContent-Length: 2\r\n"),
    Fault("a folded status line", head: " X: a\r\nContent-Length: 2\r\n"),
    Fault("a field of a megabyte", .ok().setting("X-Long", to: String(repeating: "x", count: 1 << 20))),
    Fault("100,000 fields", head: String(repeating: "a: b\r\n", count: 100_000)),
    Fault("5,000 informational responses", .ok().informational(103, times: 5_000)),
    Fault("an unexpected 101", .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")),
    Fault(
      "204 with a body", mayBeAnswered: true,
      .raw("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nab", thenCloses: false)),
  ]

  private static let redirects = [
    Fault("a redirect to itself", countsHops: true) { request, _ in .redirect(to: request.path) },
    Fault("a redirect without Location", mayBeAnswered: true, .redirect(to: nil)),
    Fault("a redirect to file:", .redirect(to: "file:///etc/passwd")),
    Fault("a redirect to another origin, with a key", mayBeAnswered: true) { _, stranger in .redirect(to: stranger) },
  ]

  private static func content() throws -> [Fault] {
    let text = try gzip(Data(String(repeating: "hello ", count: 1_000).utf8))
    var damaged = text
    damaged[text.count / 2] ^= 0xFF
    return [
      Fault("gzip cut before its end", coded(text.dropLast(12))), Fault("gzip with a changed byte", coded(damaged)),
      Fault("a coding that is not supported", coded(text, "compress")),
      Fault("gzip that grows to 256 MiB", coded(try gzip(Data(count: 256 << 20)))),
    ]
  }

  private static func coded(_ bytes: Data, _ coding: String = "gzip") -> LoopbackAnswer {
    .data(Array(bytes)).setting("Content-Encoding", to: coding)
  }

  /// Compresses bytes with the command gzip.
  private static func gzip(_ bytes: Data) throws -> Data {
    let file = URL.temporaryDirectory.appending(path: "fault-table-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    try bytes.write(to: file)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-nc", file.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    return pipe.fileHandleForReading.readDataToEndOfFile()
  }
}
