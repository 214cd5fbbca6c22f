import Foundation

/// A JSON text and where its values lie in it, found in one pass.
///
/// It owns a copy of the text, behind which stand zero bytes: so eight bytes can be read at a time anywhere in it, and
/// what reads from it may outlive the text it was made of.
final class JSONDocument: @unchecked Sendable {  // nothing of it changes once it is made
  /// What a text may be long at most: 256 MiB, the reach of a word's length.
  static let limit = JSONWord.most

  /// The bytes of the text and the zero bytes behind them.
  let text: UnsafePointer<UInt8>
  /// The bytes of the text.
  let count: Int
  /// The tape; the root is the first word.
  let words: UnsafePointer<UInt64>

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

/// The copy of a text with zero bytes behind it.
struct JSONTextCopy {
  /// How many zero bytes stand behind the text: two words, so that one can be read at its last byte.
  private static let margin = 16

  let bytes: UnsafeMutablePointer<UInt8>
  let count: Int

  init(_ data: Data) {
    count = data.count
    bytes = .allocate(capacity: count + Self.margin)
    data.copyBytes(to: bytes, count: count)
    (bytes + count).initialize(repeating: 0, count: Self.margin)
  }

  func deallocate() { bytes.deallocate() }
}

/// The words of a tape while it grows.
struct JSONTape {
  private(set) var words: UnsafeMutablePointer<UInt64>
  private(set) var count = 0
  private var room: Int

  /// - Parameter room: How many words it has room for before it grows.
  init(room: Int) {
    self.room = room
    words = .allocate(capacity: room)
  }

  subscript(index: Int) -> JSONWord {
    get { JSONWord(bits: words[index]) }
    nonmutating set { words[index] = newValue.bits }
  }

  mutating func append(_ word: JSONWord) {
    if count == room { grow() }
    words[count] = word.bits
    count += 1
  }

  private mutating func grow() {
    let wider = UnsafeMutablePointer<UInt64>.allocate(capacity: room * 2)
    wider.moveInitialize(from: words, count: count)
    words.deallocate()
    words = wider
    room *= 2
  }

  func deallocate() { words.deallocate() }
}
