import Foundation
import Testing

@testable import ErrandCore

struct LineSplitterTests {
  private func lines(_ pieces: [Data], endsAtReturn: Bool = false, limit: Int = 100) throws -> [String] {
    var splitter = LineSplitter(limit: limit, endsAtReturn: endsAtReturn)
    var lines: [Data] = []
    for piece in pieces { try splitter.take(piece, into: &lines) }
    return (lines + [splitter.end()].compactMap { $0 }).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("", [], []), ("a", ["a"], ["a"]), ("a\nb\n", ["a", "b"], ["a", "b"]), ("\n\na", ["", "", "a"], ["", "", "a"]),
    ("a\r\nb\r\n", ["a", "b"], ["a", "b"]), ("a\rb\n", ["a\rb"], ["a", "b"]), ("a\nb\r", ["a", "b"], ["a", "b"]),
    ("a\r\r\nb", ["a\r", "b"], ["a", "", "b"]),
    ("ä€😀\n", ["ä€😀"], ["ä€😀"]), ("a\n\rb", ["a", "\rb"], ["a", "", "b"]),
  ])
  func `piece boundaries do not change lines`(text: String, plain: [String], events: [String]) throws {
    let bytes = Data(text.utf8)
    for first in 0...bytes.count {
      for second in first...bytes.count {
        let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]]
        #expect(try lines(pieces) == plain, "\(first) \(second)")
        #expect(try lines(pieces, endsAtReturn: true) == events, "\(first) \(second)")
      }
    }
  }

  @Test func `long line is refused`() throws {
    #expect(try lines([Data("12345\n1234\n".utf8)], limit: 5) == ["12345", "1234"])
    #expect(try lines([Data("12345\r".utf8), Data("\n".utf8)], limit: 5) == ["12345"])
    #expect(throws: LineSplitter.TooLong.self) { try lines([Data("123456\n".utf8)], limit: 5) }
    #expect(throws: LineSplitter.TooLong.self) { try lines([Data("123".utf8), Data("456".utf8)], limit: 5) }
  }

  @Test func `lines before a long one are delivered`() {
    var splitter = LineSplitter(limit: 10, endsAtReturn: false)
    var lines: [Data] = []
    #expect(throws: LineSplitter.TooLong.self) {
      try splitter.take(Data("one\ntwo\n\(String(repeating: "x", count: 50))\n".utf8), into: &lines)
    }
    #expect(lines.map { String(decoding: $0, as: UTF8.self) } == ["one", "two"])
  }
}
