import Foundation
import Testing

/// The lines that a closure writes about the decoder during decoding.
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

/// Expects that a type sees the same in both decoders, also at a key and in an array.
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
