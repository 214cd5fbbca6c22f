import ErrandRecord
import Foundation
import Testing

@testable import ErrandCommand

struct CallComparisonTests {
  private func call(_ fields: [String], decisions: [String], kinds: [String] = []) throws -> ArchivedCall {
    let headers = fields.map { field in
      let parts = field.split(separator: ":")
      return "{\"name\": \"\(parts[0])\", \"value\": \"\(parts[1])\"}"
    }
    let (sentences, words) = (decisions.map { "\"\($0)\"" }, kinds.map { "\"\($0)\"" })
    let text = """
      {"log": {"version": "1.2", "creator": {"name": "a", "version": "1"}, "entries": [{
        "startedDateTime": "2026-01-31T12:00:00.250Z", "time": 30, "cache": {}, "timings": {},
        "request": {"method": "GET", "url": "https://h.example/", "httpVersion": "h2",
          "headers": [\(headers.joined(separator: ","))]},
        "response": {"status": 200, "statusText": "", "httpVersion": "h2", "headers": [], "content": {}},
        "_errand": {"call": 1, "decisions": [\(sentences.joined(separator: ","))],
          "kinds": [\(words.joined(separator: ","))]}}]}}
      """
    return try #require(try HTTPArchive(parsing: Data(text.utf8)).calls.first)
  }

  @Test func `fields are compared by their names`() throws {
    let differences = CallComparison.ofTwoCalls.differences(
      try call(["B:1", "A:1", "b:2", "Same:x"], decisions: []), try call(["Same:x", "a:2", "C:3"], decisions: []))
    #expect(
      differences == [
        CallComparison.Difference(what: "request field B", a: "1, 2", b: nil),
        CallComparison.Difference(what: "request field A", a: "1", b: "2"),
        CallComparison.Difference(what: "request field C", a: nil, b: "3"),
      ])
  }

  @Test func `values are compared by their bytes`() throws {
    let differences = CallComparison.ofTwoCalls.differences(
      try call(["A:\u{E9}"], decisions: []), try call(["A:e\u{301}"], decisions: []))
    #expect(differences.map(\.what) == ["request field A"])
  }

  @Test func `few decisions are aligned`() throws {
    let differences = CallComparison.ofTwoCalls.differences(
      try call([], decisions: ["a", "b", "c"]), try call([], decisions: ["b", "c", "d"]))
    #expect(
      differences == [
        CallComparison.Difference(what: "decision", a: "a", b: nil),
        CallComparison.Difference(what: "decision", a: nil, b: "d"),
      ])
  }

  @Test func `decisions of one kind are paired`() throws {
    let differences = CallComparison.ofTwoCalls.differences(
      try call([], decisions: ["sent new", "retried"], kinds: ["sent", "retried"]),
      try call([], decisions: ["sent reused", "stored"], kinds: ["sent", "cache"]))
    #expect(
      differences == [
        CallComparison.Difference(what: "decision", a: "sent new", b: "sent reused"),
        CallComparison.Difference(what: "decision", a: "retried", b: nil),
        CallComparison.Difference(what: "decision", a: nil, b: "stored"),
      ])
  }

  @Test func `moved decision is no pair`() throws {
    let a = try call([], decisions: ["sent", "stored"], kinds: ["sent", "cache"])
    let b = try call([], decisions: ["stored", "sent"], kinds: ["cache", "sent"])
    for comparison in [CallComparison.ofTwoCalls, .ofTwoFiles] {
      let differences = comparison.differences(a, b)
      #expect(differences.count == 2 && differences.allSatisfy { $0.a == nil || $0.b == nil })
    }
  }

  @Test func `many decisions and fields are compared in their order`() throws {
    let numbers = 1...9_000
    let a = try call(numbers.map { "F\($0):1" }, decisions: numbers.map { "a\($0)" })
    let b = try call(numbers.map { "F\($0):1" }, decisions: numbers.map { "b\($0)" } + ["end"])
    let differences = CallComparison.ofTwoCalls.differences(a, b)
    #expect(differences.count == 9_001)
    #expect(differences.first == CallComparison.Difference(what: "decision", a: "a1", b: "b1"))
    #expect(differences.last == CallComparison.Difference(what: "decision", a: nil, b: "end"))
  }
}
