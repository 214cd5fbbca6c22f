package import Foundation

extension JSONDocument {
  /// The bytes of the value at an index, as they are written in the text.
  func bytes(at index: Int) -> Data {
    let word = word(index)
    if word.isContainer {
      let start = start(of: index)
      return Data(bytes: text + start, count: endOfContainer(at: start) - start)
    }
    // The position and the length of a string do not include its quotation marks.
    let quote = word.isString ? 1 : 0
    return Data(bytes: text + word.place - quote, count: word.length + 2 * quote)
  }

  /// The position after the array or object that begins at a position.
  private func endOfContainer(at start: Int) -> Int {
    var (here, depth) = (start, 0)
    repeat {
      switch text[here] {
      case UInt8(ascii: "\""):
        here += 1
        while text[here] != UInt8(ascii: "\"") { here += text[here] == UInt8(ascii: "\\") ? 2 : 1 }
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      here += 1
    } while depth > 0
    return here
  }

  /// A text that has only the value at a path, at the same path. Elements before the path's are null. Nil if the path
  /// has no value.
  func bytes(only path: JSONPath) -> Data? {
    guard let index = index(at: path) else { return nil }
    var writer = JSONWriter()
    for step in path.steps { writer.open(step) }
    let closing = path.steps.reversed().map { step in
      if case .key = step { UInt8(ascii: "}") } else { UInt8(ascii: "]") }
    }
    return Data(writer.bytes) + bytes(at: index) + closing
  }
}

extension ParsedJSON {
  /// The members of an object in the order of the text, each with the bytes of its key and its value as they are
  /// written. The bytes of a key include the quotation marks. Nil if the text is not an object.
  package var members: [(name: String, key: Data, value: Data)]? {
    let root = document.word(0)
    guard root.isObject else { return nil }
    var members: [(name: String, key: Data, value: Data)] = []
    var key = 2
    while key < root.place {
      let name = document.string(document.word(key))
      members.append((name, document.bytes(at: key), document.bytes(at: key + 1)))
      key = document.end(of: key + 1)
    }
    return members
  }
}

extension JSONDecoding {
  /// The bytes of the value at a path, as they are written in a JSON text.
  /// - Throws: ``JSONDecodingError`` if the text is not JSON, or if the value is missing or null.
  package static func bytes(
    from data: Data, parsed: ParsedJSON?, at path: JSONPath
  ) throws(JSONDecodingError) -> Data {
    let (document, index) = try place(at: path, in: data, parsed)
    return document.bytes(at: index)
  }

  /// The text of the value at a path: the characters of a string, and any other value as it is written.
  /// - Throws: ``JSONDecodingError`` if the text is not JSON, or if the value is missing or null.
  package static func text(
    from data: Data, parsed: ParsedJSON?, at path: JSONPath
  ) throws(JSONDecodingError) -> String {
    let (document, index) = try place(at: path, in: data, parsed)
    let word = document.word(index)
    return word.isString ? document.string(word) : String(decoding: document.bytes(at: index), as: UTF8.self)
  }

  private static func place(
    at path: JSONPath, in data: Data, _ parsed: ParsedJSON?
  ) throws(JSONDecodingError) -> (document: JSONDocument, index: Int) {
    let document: JSONDocument
    do throws(JSONError) {
      document = if let parsed { parsed.document } else { try JSONDocument(data) }
    } catch {
      throw JSONDecodingError(error, excerpt: JSONExcerpt.markup(in: data))
    }
    let root = JSONValue.inText(document, at: 0)
    guard let index = document.index(at: path) else { throw JSONDecodingError(missing: path, in: root) }
    if document.word(index).isKind(.null) { throw JSONDecodingError(nullAt: path, in: root) }
    return (document, index)
  }
}
