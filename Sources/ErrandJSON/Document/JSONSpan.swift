package import Foundation

/// Finds the bytes of one value in a JSON text. The text has been validated by the parser. A parsed document does not
/// store where an array or an object begins in the text, so the text is read again.
struct JSONSpan {
  private let bytes: [UInt8]
  private var here = 0

  private init(_ text: Data) { bytes = Array(text) }

  /// The bytes of the value at a path; nil if the path has no value. If an object has equal keys, the first key is used.
  /// - Parameter text: A valid JSON text in UTF-8.
  static func bytes(at path: JSONPath, in text: Data) -> Data? {
    var span = JSONSpan(text)
    span.skipSpace()
    for step in path.steps {
      guard span.enter(step) else { return nil }
    }
    let start = span.here
    span.skipValue()
    return start < span.here ? Data(span.bytes[start..<span.here]) : nil
  }

  /// A text that has only the value at a path of another text, at the same path. Elements before the path's are null.
  /// Nil if the path has no value.
  /// - Parameter text: A valid JSON text in UTF-8.
  static func only(_ path: JSONPath, of text: Data) -> Data? {
    guard let value = bytes(at: path, in: text) else { return nil }
    var writer = JSONWriter()
    for step in path.steps { writer.open(step) }
    var closing: [UInt8] = []
    for step in path.steps.reversed() {
      if case .key = step { closing.append(UInt8(ascii: "}")) } else { closing.append(UInt8(ascii: "]")) }
    }
    return Data(writer.bytes) + value + closing
  }

  /// The next byte; zero at the end.
  private var next: UInt8 { here < bytes.count ? bytes[here] : 0 }

  /// Moves from the beginning of a container to the beginning of one of its values.
  private mutating func enter(_ step: JSONPath.Step) -> Bool {
    switch step {
    case .key(let key): enter(key)
    case .index(let number): enter(number)
    }
  }

  private mutating func enter(_ key: String) -> Bool {
    guard next == UInt8(ascii: "{") else { return false }
    repeat {
      skip()
      let start = here
      skipString()
      let isFound = Self.isKey(bytes[start..<here], key)
      skipSpace()
      guard next == UInt8(ascii: ":") else { return false }
      skip()
      if isFound { return true }
      skipValue()
      skipSpace()
    } while next == UInt8(ascii: ",")
    return false
  }

  private mutating func enter(_ number: Int) -> Bool {
    guard next == UInt8(ascii: "["), number >= 0 else { return false }
    skip()
    for _ in 0..<number {
      skipValue()
      skipSpace()
      guard next == UInt8(ascii: ",") else { return false }
      skip()
    }
    return next != UInt8(ascii: "]")
  }

  /// Whether a string of the text, with its quotation marks, has the bytes of a key. Only a string with escapes is
  /// parsed.
  private static func isKey(_ quoted: ArraySlice<UInt8>, _ key: String) -> Bool {
    guard quoted.contains(UInt8(ascii: "\\")) else { return quoted.dropFirst().dropLast().elementsEqual(key.utf8) }
    return (try? JSONValue(parsing: Data(quoted)))?.stringValue.map { $0.utf8.elementsEqual(key.utf8) } ?? false
  }

  /// Skips one byte and the white space after it.
  private mutating func skip() {
    if here < bytes.count { here += 1 }
    skipSpace()
  }

  private mutating func skipSpace() {
    while [0x20, 0x09, 0x0A, 0x0D].contains(next) { here += 1 }
  }

  private mutating func skipString() {
    guard next == UInt8(ascii: "\"") else { return }
    here += 1
    while here < bytes.count, bytes[here] != UInt8(ascii: "\"") {
      here = min(here + (bytes[here] == UInt8(ascii: "\\") ? 2 : 1), bytes.count)
    }
    if here < bytes.count { here += 1 }
  }

  /// Skips a value without recursion, because a text may nest its values deeply.
  private mutating func skipValue() {
    var depth = 0
    repeat {
      switch next {
      case UInt8(ascii: "\""): skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        here += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        here += 1
      case 0: return
      default: depth == 0 ? skipScalar() : (here += 1)
      }
    } while depth > 0
  }

  private mutating func skipScalar() {
    while true {
      switch next {
      case 0, 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): return
      default: here += 1
      }
    }
  }
}

extension JSONDecoding {
  /// The bytes of the value at a path, as they are written in a JSON text.
  /// - Throws: ``JSONDecodingError`` if the text is not JSON, or if the value is missing or null.
  package static func bytes(
    from data: Data, parsed: ParsedJSON?, at path: JSONPath
  ) throws(JSONDecodingError) -> Data {
    let (root, text) = try document(of: data, parsed)
    guard let value = root.value(at: path) else { throw JSONDecodingError(missing: path, in: root) }
    if value.isNull { throw JSONDecodingError(nullAt: path, in: root) }
    return JSONSpan.bytes(at: path, in: text) ?? Data()
  }

  private static func document(
    of data: Data, _ parsed: ParsedJSON?
  ) throws(JSONDecodingError) -> (root: JSONValue, text: Data) {
    do throws(JSONError) {
      let document = if let parsed { parsed.document } else { try JSONDocument(data) }
      return (JSONValue.inText(document, at: 0), try JSONText.utf8(of: data))
    } catch {
      throw JSONDecodingError(error, excerpt: JSONExcerpt.markup(in: data))
    }
  }

  /// The text of the value at a path: the characters of a string, and any other value as it is written.
  /// - Throws: ``JSONDecodingError`` if the text is not JSON, or if the value is missing or null.
  package static func text(
    from data: Data, parsed: ParsedJSON?, at path: JSONPath
  ) throws(JSONDecodingError) -> String {
    let bytes = try bytes(from: data, parsed: parsed, at: path)
    return (try? JSONValue(parsing: bytes))?.stringValue ?? String(decoding: bytes, as: UTF8.self)
  }
}
