import Foundation
import Testing

@testable import ErrandCore

struct EventParserTests {
  private func parse(_ text: String, _ parser: inout EventParser) throws -> [ServerSentEvent] {
    var splitter = LineSplitter(limit: 1_000, endsAtReturn: true)
    var lines: [Data] = []
    try splitter.take(Data(text.utf8), into: &lines)
    lines += [splitter.end()].compactMap { $0 }
    return try lines.compactMap { try parser.take($0) }
  }

  private func events(_ text: String) throws -> [ServerSentEvent] {
    var parser = EventParser(limit: 1_000)
    return try parse(text, &parser)
  }

  @Test(arguments: [
    ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerSentEvent(data: "YHOO\n+2\n10")]),
    (
      ": a comment\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\n\n",
      [
        ServerSentEvent(data: "first", id: "1"), ServerSentEvent(data: "second"), ServerSentEvent(data: " third"),
      ]
    ),
    ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
    ("data:test\n\ndata: test\n\n", [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")]),
    (
      "event: add\ndata: 1\n\nevent: remove\n\ndata: 2\n\n",
      [ServerSentEvent(type: "add", data: "1"), ServerSentEvent(data: "2")]
    ),
    ("data: a\r\rdata: b\r\n\r\n", [ServerSentEvent(data: "a"), ServerSentEvent(data: "b")]),
    ("data: cut off", []), ("data: cut off\n", []), ("datum: x\n data: y\n\n", []), ("", []), ("\n\n\n", []),
    ("id: 7\n\ndata: a\n\n", [ServerSentEvent(data: "a", id: "7")]),
    ("id: 7\nid: 8\0\ndata: a\n\n", [ServerSentEvent(data: "a", id: "7")]),
    ("id: 7\nid: 8\u{7}\ndata: a\n\n", [ServerSentEvent(data: "a", id: "7")]),
    ("data: ä: 😀\n\n", [ServerSentEvent(data: "ä: 😀")]),
  ])
  func `events follow the HTML standard`(text: String, expected: [ServerSentEvent]) throws {
    #expect(try events(text) == expected)
  }

  @Test(arguments: [
    ("retry: 1500", Duration.milliseconds(1_500)), ("retry: 0", .zero),
    ("retry: 99999999999999999999", .seconds(86_400)), ("retry: 1.5", nil), ("retry: -1", nil), ("retry:", nil),
    ("retry: soon", nil),
  ])
  func `retry field sets reconnection time`(line: String, expected: Duration?) throws {
    var parser = EventParser(limit: 1_000)
    _ = try parse(line + "\n\n", &parser)
    #expect(parser.retry == expected)
  }

  @Test func `only complete events set last ID`() throws {
    var parser = EventParser(lastID: "3", limit: 1_000)
    #expect(try parse("id: 4\ndata: a\n\nid: 5\ndata: b\n", &parser).map(\.id) == ["4"])
    #expect(parser.lastID == "4")
  }

  @Test func `endless event is refused`() {
    #expect(throws: LineSplitter.TooLong.self) {
      try events(String(repeating: "data: 0123456789\n", count: 100))
    }
  }

  @Test(arguments: ["data: 0123456789\n", "data: 0123\ndata:56789\n", String(repeating: "data\n", count: 11)])
  func `event may be as long as the limit`(text: String) throws {
    var parser = EventParser(limit: 10)
    #expect(try parse(text + "\n", &parser).map(\.data.utf8.count) == [10])
    var narrow = EventParser(limit: 9)
    #expect(throws: LineSplitter.TooLong.self) { try parse(text + "\n", &narrow) }
  }

  @Test func `data is decoded as JSON`() throws {
    struct Price: Decodable, Equatable { let cents: Int }
    #expect(try ServerSentEvent(data: #"{"cents": 5}"#).value() == Price(cents: 5))
    let error = #expect(throws: APIError.self) { try ServerSentEvent(data: "[DONE]").value(as: Price.self) }
    #expect(error?.stage == .decode && error?.code == .decoding)
    #expect(error?.message.hasPrefix("The data of the event could not be decoded as JSON: ") == true)
  }
}
