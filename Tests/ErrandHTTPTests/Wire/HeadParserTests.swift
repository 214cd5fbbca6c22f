import ErrandHTTP
import Foundation
import Testing

struct HeadParserTests {
  /// The result of a list of lines.
  enum Outcome: Equatable, Sendable {
    case final(Int, BodyFraming)
    case failure(TransportFailure.Kind)
    case unfinished
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var lines: [String]
    var outcome: Outcome
    var isHead = false
    var isConnect = false
    var dialect = HeadParser.Dialect.http1
    var limits = ResponseLimits()
    var testDescription: String { String(lines.joined(separator: "|").prefix(60)) }
  }

  static let ok = "HTTP/1.1 200 OK"

  static let accepted: [Row] = [
    Row(lines: [ok, ""], outcome: .final(200, .untilClose)),
    Row(lines: ["HTTP/1.1 200", ""], outcome: .final(200, .untilClose)),
    Row(lines: ["HTTP/1.1 200 ", ""], outcome: .final(200, .untilClose)),
    Row(lines: ["HTTP/1.0 200 OK", ""], outcome: .final(200, .untilClose)),
    Row(lines: ["HTTP/1.1 999 Odd", ""], outcome: .final(999, .untilClose)),
    Row(lines: [ok, "Content-Length: 5", ""], outcome: .final(200, .length(5))),
    Row(lines: [ok, "content-LENGTH:5", ""], outcome: .final(200, .length(5))),
    Row(lines: [ok, "Content-Length:\t 5 \t", ""], outcome: .final(200, .length(5))),
    Row(lines: [ok, "Content-Length: 5", "Content-Length: 5", ""], outcome: .final(200, .length(5))),
    Row(lines: [ok, "Content-Length: 0", ""], outcome: .final(200, .none)),
    Row(lines: [ok, "Content-Length: 9223372036854775807", ""], outcome: .final(200, .length(.max))),
    Row(lines: [ok, "Transfer-Encoding: Chunked", ""], outcome: .final(200, .chunked)),
    Row(lines: ["HTTP/1.1 204 No", "Content-Length: 5", ""], outcome: .final(204, .none)),
    Row(lines: ["HTTP/1.1 304 No", "Content-Length: 5", ""], outcome: .final(304, .none)),
    Row(lines: [ok, "Content-Length: 5", ""], outcome: .final(200, .none), isHead: true),
    Row(lines: ["HTTP/1.1 103 Hints", "A: b", "", ok, "Content-Length: 1", ""], outcome: .final(200, .length(1))),
    Row(lines: ["HTTP/1.1 100 Go", "Content-Length: 9", "", ok, ""], outcome: .final(200, .untilClose)),
    Row(lines: [ok, "Content-Length: 5", ""], outcome: .final(200, .none), isConnect: true),
    Row(lines: [ok, "Content-Length: 5", "Transfer-Encoding: x", ""], outcome: .final(200, .none), isConnect: true),
    Row(lines: ["HTTP/1.1 407 No", "Content-Length: 5", ""], outcome: .final(407, .length(5)), isConnect: true),
    Row(lines: ["HTTP/2 200 ", "content-length: 3", ""], outcome: .final(200, .length(3)), dialect: .http2),
    Row(lines: ["HTTP/2 200 ", ""], outcome: .final(200, .untilClose), dialect: .either),
    Row(lines: [ok, ""], outcome: .final(200, .untilClose), dialect: .either),
    Row(lines: [ok, "X: a", " b", "\tc", "Content-Length: 5", ""], outcome: .final(200, .length(5))),
    Row(lines: [ok, "Content-Length: 5", "X: a", " Content-Length: 6", ""], outcome: .final(200, .length(5))),
  ]

  static let refused: [Row] =
    [
      "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099 x", "HTTP/1.1 2x0 x", "HTTP/1.1  200 x",
      "HTTP/2 200 ", "HTTP/2.0 200 OK", "HTTP/3 200 ", "HTTP/1.2 200 x", "HTTP/01.1 200 x", "http/1.1 200 OK", "",
      "ICY 200 OK", "HTTP/1.1 -20 x", "HTTP/1.1\t200 OK",
    ].map { Row(lines: [$0, ""], outcome: .failure(.malformedResponse)) }
    + [
      "Content-Length: -1", "Content-Length: +1", "Content-Length: 1x", "Content-Length: 1, 1", "Content-Length:",
      "Content-Length: 9223372036854775808", "Content-Length: 0x10", "Content-Length: 1 1", "Content-Length : 1",
      "Transfer-Encoding: gzip", "Transfer-Encoding: identity", "Transfer-Encoding: chunked, chunked",
      "Transfer-Encoding: gzip, chunked", "Transfer-Encoding:", "no colon", ": no name", " folded", "\tfolded", " ",
      "Content-Length: 1\r\n 2", "Content-Length:\r\n 1", "Content-Length: 1\r\n ", "Transfer-Encoding:\r\n chunked",
      "Na me: x", "N(me: x", "Nämé: x", "X: a\rb", "X: a\nb", "X: a\0b",
    ].map { Row(lines: [ok, $0, ""], outcome: .failure(.malformedResponse)) }
    + [
      Row(
        lines: [ok, "Content-Length: 1", "Content-Length: 2", ""], outcome: .failure(.malformedResponse)),
      Row(
        lines: [ok, "Content-Length: 1", "Transfer-Encoding: chunked", ""], outcome: .failure(.malformedResponse)),
      Row(
        lines: [ok, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", ""],
        outcome: .failure(.malformedResponse)),
      Row(lines: ["HTTP/1.0 200 OK", "Transfer-Encoding: chunked", ""], outcome: .failure(.malformedResponse)),
      Row(lines: ["HTTP/1.1 101 Switch", ""], outcome: .failure(.malformedResponse)),
      Row(lines: [ok, ""], outcome: .failure(.malformedResponse), dialect: .http2),
    ]

  static let limited: [Row] = [
    Row(
      lines: [ok, "A: b", "C: d", ""], outcome: .failure(.tooLarge), limits: ResponseLimits(fieldCount: 1)),
    Row(
      lines: [ok, "A: b", ""], outcome: .final(200, .untilClose), limits: ResponseLimits(fieldCount: 1)),
    Row(
      lines: [ok, "A: bb", ""], outcome: .failure(.tooLarge), limits: ResponseLimits(headBytes: 25)),
    Row(
      lines: [ok, "A: bb", ""], outcome: .final(200, .untilClose), limits: ResponseLimits(headBytes: 26)),
    Row(
      lines: ["HTTP/1.1 103 x", "", "HTTP/1.1 103 x", "", ok, ""], outcome: .failure(.tooLarge),
      limits: ResponseLimits(informationalCount: 1)),
    Row(
      lines: ["HTTP/1.1 103 x", "", ok, ""], outcome: .final(200, .untilClose),
      limits: ResponseLimits(informationalCount: 1)),
  ]

  @Test(arguments: accepted + refused + limited)
  func `response headers parse as expected`(_ row: Row) {
    #expect(Self.outcome(of: row) == row.outcome)
  }

  @Test func `line must end with CRLF`() {
    for line in ["HTTP/1.1 200 OK\n", "HTTP/1.1 200 OK", "\n", "\r", ""] {
      var parser = Self.parser(Row(lines: [], outcome: .unfinished))
      #expect(throws: TransportFailure.self) { try Self.feed(line, to: &parser) }
    }
  }

  @Test func `fields keep order, case and bytes`() throws {
    var parser = Self.parser(Row(lines: [], outcome: .unfinished))
    var head: ResponseHead?
    for line in ["HTTP/1.1 200 Fine", "B:  2\t", "a: 1", "B: ", "C: x: y"] + [""] {
      if case .final = try Self.feed(line + "\r\n", to: &parser) { head = parser.head }
    }
    let fields = try #require(head).fields.all
    #expect(fields.map(\.name.rawValue) == ["B", "a", "B", "C"])
    #expect(fields.map(\.value) == ["2", "1", "", "x: y"])
    #expect(head?.reason == "Fine")
  }

  @Test(arguments: ["OK", "AK", "Ok", "O", "", "OK!", "Not Found"])
  func `the reason is kept`(reason: String) throws {
    var parser = Self.parser(Row(lines: [], outcome: .unfinished))
    _ = try Self.feed("HTTP/1.1 200 \(reason)\r\n", to: &parser)
    _ = try Self.feed("\r\n", to: &parser)
    #expect(parser.head.reason == reason)
  }

  @Test func `folded lines are joined by one space`() throws {
    var parser = Self.parser(Row(lines: [], outcome: .unfinished))
    let lines = [
      Self.ok, "A: 1  ", "  2", "\t 3\t", "B:", " 4", "C: 5", " ", "\t", "D:", "  ", "Content-Encoding: gzip,",
      " br", "",
    ]
    for line in lines { _ = try Self.feed(line + "\r\n", to: &parser) }
    #expect(parser.head.fields.all.map(\.value) == ["1 2 3", "4", "5", "", "gzip, br"])
    #expect(parser.contentEncoding == "gzip, br")
  }

  @Test func `folded lines count against the limits`() throws {
    let limits = ResponseLimits(headBytes: 60, fieldCount: 1)
    var parser = Self.parser(Row(lines: [], outcome: .unfinished, limits: limits))
    for line in [Self.ok, "A: 1", " 2", " 3"] { _ = try Self.feed(line + "\r\n", to: &parser) }
    let failure = #expect(throws: TransportFailure.self) {
      for _ in 0..<10 { _ = try Self.feed(" 4567\r\n", to: &parser) }
    }
    #expect(failure?.kind == .tooLarge)
  }

  @Test(arguments: [
    (ResponseLimits(fieldCount: 1), "fieldCount"), (ResponseLimits(headBytes: 40), "headBytes"),
    (ResponseLimits(informationalCount: 0), "informationalCount"),
  ])
  func `an exceeded limit names its setting`(_ limits: ResponseLimits, _ setting: String) {
    var parser = Self.parser(Row(lines: [], outcome: .unfinished, limits: limits))
    let failure = #expect(throws: TransportFailure.self) {
      for line in ["HTTP/1.1 103 x", "", Self.ok, "A: 1", "B: 2", "C: 3456789"] {
        _ = try Self.feed(line + "\r\n", to: &parser)
      }
    }
    #expect(failure?.description.contains("; raise `limits.\(setting)`") == true)
  }

  @Test(arguments: [("HTTP/1.1 204 No", true), ("HTTP/1.1 304 Same", false), (ok, false)])
  func `forbidden length is detected`(_ status: String, _ isForbidden: Bool) throws {
    for (lines, expected) in [
      ([status, "Content-Length: 5", ""], isForbidden), ([status, "Content-Length: 0", ""], false),
      (["HTTP/1.1 103 x", "Content-Length: 5", "", status, ""], true),
      (["HTTP/1.1 103 x", "Transfer-Encoding: chunked", "", status, ""], true),
    ] {
      var parser = Self.parser(Row(lines: [], outcome: .unfinished))
      for line in lines { _ = try Self.feed(line + "\r\n", to: &parser) }
      #expect(parser.announcedForbiddenBody == expected, "\(lines)")
    }
  }

  @Test(arguments: [
    ("Connection: close", true, false), ("connection: Keep-Alive", false, true),
    ("Connection: x, close ,y", true, false),
    ("Connection: close\r\nConnection: keep-alive", true, true), ("Connection: closed", false, false),
    ("Connection: x\r\n close", false, false), ("Connection: x,\r\n close", true, false), ("Connection:", false, false),
    ("Connectiom: close", false, false), ("X: close", false, false),
  ])
  func `options of a connection are read`(_ fields: String, _ closes: Bool, _ keeps: Bool) throws {
    var parser = Self.parser(Row(lines: [], outcome: .unfinished))
    let lines = ["HTTP/1.1 103 x", "Connection: close, keep-alive", "", Self.ok]
    for line in lines + fields.components(separatedBy: "\r\n") + [""] { try Self.feed(line + "\r\n", to: &parser) }
    #expect(parser.saysClose == closes && parser.saysKeepAlive == keeps)
  }

  @Test func `content encodings are joined`() throws {
    var parser = Self.parser(Row(lines: [], outcome: .unfinished))
    for line in [Self.ok, "Content-Encoding: gzip", "content-encoding: br", ""] {
      _ = try Self.feed(line + "\r\n", to: &parser)
    }
    #expect(parser.contentEncoding == "gzip,br")
  }

  @Test func `fields of a 1xx response are dropped`() throws {
    var parser = Self.parser(Row(lines: [], outcome: .unfinished))
    var final: ResponseHead?
    for line in ["HTTP/1.1 103 x", "Link: a", "Content-Encoding: gzip", "", Self.ok, "A: b", ""] {
      if case .final = try Self.feed(line + "\r\n", to: &parser) { final = parser.head }
    }
    #expect(final?.fields.all.map(\.name.rawValue) == ["A"])
    #expect(parser.contentEncoding.isEmpty)
  }

  @Test(arguments: ["0", "1", "-1", "99999999999999999999", "a", "", "1 "])
  func `numbers contain only digits`(_ text: String) {
    let number = Array(text.utf8).withUnsafeBytes { HeadLine.number($0) }
    #expect(number == (["0", "1"].contains(text) ? Int64(text) : nil))
  }

  @Test func `token characters are those of RFC 9110`() {
    let marks = "!#$%&'*+-.^_`|~".utf8
    for byte in UInt8.min...UInt8.max {
      #expect(ASCII.isToken(byte) == (ASCII.isAlphanumeric(byte) || marks.contains(byte)))
    }
  }

  private static func parser(_ row: Row) -> HeadParser {
    HeadParser(limits: row.limits, isHeadRequest: row.isHead, dialect: row.dialect, isConnect: row.isConnect)
  }

  @discardableResult
  private static func feed(_ line: String, to parser: inout HeadParser) throws -> HeadParser.Event {
    let bytes = Array(line.utf8)
    return try bytes.withUnsafeBytes { try parser.take($0) }
  }

  private static func outcome(of row: Row) -> Outcome {
    var parser = parser(row)
    do {
      for line in row.lines {
        if case .final(let framing) = try feed(line + "\r\n", to: &parser) {
          return .final(parser.head.status, framing)
        }
      }
      return .unfinished
    } catch {
      return .failure((error as? TransportFailure)?.kind ?? .other)
    }
  }
}
