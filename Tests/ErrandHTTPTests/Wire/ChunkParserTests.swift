import ErrandHTTP
import Testing

struct ChunkParserTests {
  struct Result: Equatable {
    var data = ""
    var isDone = false
    var hasExcess = false
    var trailers: [String] = []
  }

  static let good: [(String, Result)] = [
    ("0\r\n\r\n", Result(isDone: true)),
    ("3\r\nabc\r\n0\r\n\r\n", Result(data: "abc", isDone: true)),
    ("A\r\n0123456789\r\n0\r\n\r\n", Result(data: "0123456789", isDone: true)),
    ("a;x=y;z\r\n0123456789\r\n000;e\r\n\r\n", Result(data: "0123456789", isDone: true)),
    ("1\r\na\r\n2\r\nbc\r\n0\r\nX: 1\r\nY:2\r\n\r\n", Result(data: "abc", isDone: true, trailers: ["X: 1", "Y: 2"])),
    ("1\r\na\r\n0\r\n\r\nmore", Result(data: "a", isDone: true, hasExcess: true)),
    ("1 \r\na\r\n0\t\r\n\r\n", Result(data: "a", isDone: true)),
    ("1 \t ;a=b\r\na\r\n0  \r\n\r\n", Result(data: "a", isDone: true)),
    ("1 ; a = b \r\na\r\n0 ;x\r\n\r\n", Result(data: "a", isDone: true)),
    (
      "1\r\na\r\n0\r\nX: 1\r\n 2\r\n\t3 \r\nY:\r\n  4\r\n\r\n",
      Result(data: "a", isDone: true, trailers: ["X: 1 2 3", "Y: 4"])
    ),
    ("3\r\nab", Result(data: "ab")),
    ("0000000000000002\r\nab\r\n0\r\n\r\n", Result(data: "ab", isDone: true)),
    ("7fffffffffffffff\r\nab", Result(data: "ab")),
    ("3\r\nabc\r\n0\r\nX: 1\r\n", Result(data: "abc", trailers: ["X: 1"])),
  ]

  static let bad: [(String, TransportFailure.Kind)] = [
    ("\r\n", .malformedResponse), ("g\r\n", .malformedResponse), ("-1\r\n", .malformedResponse),
    ("0x1\r\n", .malformedResponse), (" 1\r\n", .malformedResponse), ("1 x\r\n", .malformedResponse),
    ("1 2\r\n", .malformedResponse), ("1 \n", .malformedResponse), ("\t1\r\n", .malformedResponse),
    (" ;a\r\n", .malformedResponse), ("1" + String(repeating: " ", count: 4097), .tooLarge),
    ("0\r\nA: b\r\n" + String(repeating: " c\r\n", count: 50), .tooLarge),
    ("1\n", .malformedResponse), ("1\rx", .malformedResponse), ("1\r\nab", .malformedResponse),
    ("1\r\na\n", .malformedResponse), ("1\r\na\rx", .malformedResponse), (";x\r\n", .malformedResponse),
    ("8000000000000000\r\n", .malformedResponse), ("00000000000000001\r\n", .malformedResponse),
    ("1;a\nb\r\n", .malformedResponse), ("0\r\nno colon\r\n", .malformedResponse),
    ("0\r\nA : b\r\n", .malformedResponse), ("0\r\n folded: b\r\n", .malformedResponse),
    ("0\r\nA: b\n", .malformedResponse),
    ("1;" + String(repeating: "x", count: 4097), .tooLarge),
    ("0\r\n" + String(repeating: "A: b\r\n", count: 20), .tooLarge),
    ("0\r\nA: " + String(repeating: "x", count: 200), .tooLarge),
  ]

  static let limits = ResponseLimits(headBytes: 150, fieldCount: 10)

  /// Feeds the text to the parser in pieces of `size` bytes.
  static func parse(_ text: String, by size: Int) throws -> Result {
    var parser = ChunkParser(limits: limits)
    var data: [UInt8] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      var rest = bytes[start..<min(start + size, bytes.count)]
      while !rest.isEmpty {
        let step = try Array(rest).withUnsafeBytes { try parser.next($0) }
        switch step {
        case .data(let count):
          data += rest.prefix(count)
          rest = rest.dropFirst(count)
        case .framing(let count): rest = rest.dropFirst(count)
        }
      }
    }
    let trailers = parser.takeTrailers().all.map { "\($0.name): \($0.value)" }
    return Result(
      data: String(decoding: data, as: UTF8.self), isDone: parser.isDone, hasExcess: parser.hasExcess,
      trailers: trailers)
  }

  @Test(arguments: good)
  func `chunks are parsed at any split`(_ text: String, _ result: Result) throws {
    for size in 1...max(1, text.utf8.count) { #expect(try Self.parse(text, by: size) == result, "by \(size)") }
  }

  @Test(arguments: bad)
  func `invalid chunks are refused at any split`(_ text: String, _ kind: TransportFailure.Kind) {
    for size in [1, 2, 3, 7, text.utf8.count] {
      let failure = #expect(throws: TransportFailure.self) { try Self.parse(text, by: size) }
      #expect(failure?.kind == kind)
    }
  }

  @Test func `returned data is delivered again`() throws {
    var parser = ChunkParser(limits: Self.limits)
    let bytes = Array("4\r\nabcd\r\n".utf8)
    #expect(try bytes.withUnsafeBytes { try parser.next($0) } == .framing(3))
    #expect(try bytes[3..<7].withUnsafeBytes { try parser.next($0) } == .data(4))
    parser.giveBack(3)
    #expect(try bytes[4..<7].withUnsafeBytes { try parser.next($0) } == .data(3))
    #expect(try bytes[7...].withUnsafeBytes { try parser.next($0) } == .framing(2))
  }
}
