import Foundation
import Testing

/// What a closure sees of a decoder from within, told line by line.
struct JSONView: Decodable, Equatable {
  typealias Look = @Sendable (inout JSONNotes, any Decoder) throws -> Void

  let lines: [String]

  init(from decoder: any Decoder) throws {
    var notes = JSONNotes()
    do {
      try CodingUserInfoKey(rawValue: "look").flatMap { decoder.userInfo[$0] as? JSONLook }?.look(&notes, decoder)
    } catch {
      notes.note("ended by \(JSONFailure(error))")
    }
    lines = notes.lines
  }
}

/// The closure as it stands in `userInfo`.
struct JSONLook: Sendable {
  let look: JSONView.Look
}

/// Lines about a decoder.
struct JSONNotes {
  private(set) var lines: [String] = []

  mutating func note(_ value: Any) { lines.append("\(value)") }

  mutating func note(_ path: [any CodingKey]) { lines.append(JSONFailure.names(path).joined(separator: "/")) }

  /// Notes the result, or how the work failed.
  mutating func attempt<Result>(_ work: () throws -> Result) {
    do {
      lines.append("\(try work())")
    } catch {
      lines.append("\(JSONFailure(error))")
    }
  }

  /// Notes where the container stands.
  mutating func note(_ list: any UnkeyedDecodingContainer) {
    note("\(list.currentIndex) of \(list.count ?? -1), at end: \(list.isAtEnd)")
    note(list.codingPath)
  }

  /// Notes what the object has.
  mutating func note<Key>(_ object: KeyedDecodingContainer<Key>) {
    note(object.allKeys.map { "\($0.stringValue)#\($0.intValue ?? -1)" }.sorted())
    note(object.codingPath)
  }
}

/// Expects that a type sees the same in either decoder; at a key and in an array as well.
func expectSameView(
  _ text: String, sourceLocation: SourceLocation = #_sourceLocation, by configure: (JSONDecoder) -> Void = { _ in },
  _ look: @escaping JSONView.Look
) {
  let looking: (JSONDecoder) -> Void = { decoder in
    if let key = CodingUserInfoKey(rawValue: "look") { decoder.userInfo[key] = JSONLook(look: look) }
    configure(decoder)
  }
  expectSame(JSONView.self, text, sourceLocation: sourceLocation, by: looking)
  expectSame([JSONView].self, "[\(text),\(text)]", sourceLocation: sourceLocation, by: looking)
  expectSame([String: JSONView].self, "{\"up\":\(text)}", sourceLocation: sourceLocation, by: looking)
  expectSame(JSONBox<JSONView?>.self, "{\"value\":\(text)}", sourceLocation: sourceLocation, by: looking)
}

/// Any key.
struct JSONName: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init(stringLiteral name: String) { self.init(name) }
  init(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
