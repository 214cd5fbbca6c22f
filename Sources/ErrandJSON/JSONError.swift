/// A text could not be parsed as JSON, a value could not be written as JSON, or a path has the wrong syntax.
///
/// Messages never contain the JSON text, so they are safe to log.
public enum JSONError: Error, Sendable, Hashable {
  /// The text is empty: it has no bytes, or only white space.
  case empty
  /// The text violates the grammar of RFC 8259; the reason is an English phrase. The place is nil if the bytes are not
  /// valid text in any encoding of JSON.
  case notJSON(reason: String, at: JSONPlace? = nil)
  /// The text has more bytes than the limit.
  case tooLarge(limit: Int)
  /// Arrays and objects are nested deeper than the limit, by default 512 levels.
  case tooDeep(limit: Int)
  /// A number is valid JSON, but exceeds the range of `Double`.
  case numberOutOfRange(String)
  /// The number at the path is infinite or NaN, which JSON cannot represent.
  case notFinite(path: JSONPath)
  /// The value has another type than object; `found` names its type in words.
  case notAnObject(found: String)
  /// The given text is not a valid path.
  case malformedPath(String)
}

extension JSONError: CustomStringConvertible {
  /// One English sentence that describes the error.
  public var description: String {
    switch self {
    case .empty: "The text is empty where JSON was expected."
    case .notJSON(let reason, let place): "The text is not JSON: \(reason)\(place.map { " at \($0)" } ?? "")."
    case .tooLarge(let limit): "The JSON is longer than \(limit) bytes."
    case .tooDeep(let limit): "The JSON is nested deeper than \(limit) levels."
    case .numberOutOfRange(let number): "The number \(number) is too large for a Double."
    case .notFinite(let path): "\(path): JSON cannot represent an infinite number or NaN."
    case .notAnObject(let found): "Expected a JSON object, found \(found)."
    case .malformedPath(let text): "\"\(text)\" is not a JSON path; write it like data.items[0].name."
    }
  }

  /// The description for use inside another sentence: the first letter is in lower case, and the full stop is omitted.
  package var clause: String {
    let sentence = description
    return sentence.prefix(1).lowercased() + sentence.dropFirst().dropLast()
  }
}
