import ErrandSupport
import Foundation

/// A JSON text and where its values lie in it, found in one pass.
///
/// It owns a copy of the text, behind which stand zero bytes: so eight bytes can be read at a time anywhere in it, and
/// what reads from it may outlive the text it was made of.
final class JSONDocument: @unchecked Sendable {  // only hints change, which are atomic, and what is behind a lock
  /// What a text may be long at most: 256 MiB, the reach of a word's length.
  static let limit = JSONWord.most

  /// The bytes of the text and the zero bytes behind them.
  let text: UnsafePointer<UInt8>
  /// The bytes of the text.
  let count: Int
  /// The tape; the root is the first word. Behind the root stands null, for those who read what is not there.
  let words: UnsafePointer<UInt64>
  /// The index of the null behind the root.
  let nothing: Int
  /// Whether there may be numbers beyond all doubles.
  let hasVastNumbers: Bool
  /// What was found out about containers that are asked again and again.
  let known = Locked(JSONKnown())

  /// Reads a text in any of the encodings of JSON.
  /// - Throws: ``JSONError``.
  init(_ data: Data) throws(JSONError) {
    let utf8 = try JSONText.utf8(of: data)
    guard utf8.count <= Self.limit else { throw JSONError.tooLarge(limit: Self.limit) }
    let copy = JSONTextCopy(utf8)
    var parser = JSONDocumentParser(copy)
    do throws(JSONError) {
      try parser.parse()
    } catch {
      parser.tape.deallocate()
      copy.deallocate()
      throw error
    }
    nothing = parser.tape.count
    parser.tape.append(JSONWord(.null, length: 0, place: 0))
    hasVastNumbers = parser.hasVastNumbers
    text = UnsafePointer(copy.bytes)
    count = copy.count
    words = UnsafePointer(parser.tape.words)
  }

  deinit {
    text.deallocate()
    words.deallocate()
  }

  func word(_ index: Int) -> JSONWord { JSONWord(bits: words[index]) }

  /// The index behind a value.
  func end(of index: Int) -> Int {
    let word = word(index)
    return word.isContainer ? word.place : index + 1
  }
}
