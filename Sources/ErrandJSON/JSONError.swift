/// Why a text could not be read as JSON, a value could not be written as JSON, or a path could not be understood.
///
/// Messages never carry the text itself, so they are safe to log.
public enum JSONError: Error, Sendable, Hashable {
  /// There is no text: no bytes at all, or white space alone.
  case empty
  /// The text breaks the grammar of RFC 8259; the reason is an English phrase. The place is nil where the bytes are no
  /// text at all.
  case notJSON(reason: String, at: JSONPlace? = nil)
  /// The text has more bytes than the limit.
  case tooLarge(limit: Int)
  /// Arrays and objects are nested deeper than the limit (``JSONValue/depthLimit``).
  case tooDeep(limit: Int)
  /// A number is written correctly, but no `Double` can hold it.
  case numberOutOfRange(String)
  /// An infinite number or "not a number" lies at the path: JSON has no way to write it.
  case notFinite(path: JSONPath)
  /// An object was needed, and something else was there; named by its type.
  case notAnObject(found: String)
  /// A text is no path; the text is given.
  case malformedPath(String)
}

extension JSONError: CustomStringConvertible {
  /// One English sentence.
  public var description: String {
    switch self {
    case .empty: "The text is empty where JSON was expected."
    case .notJSON(let reason, let place): "The text is not JSON: \(reason)\(place.map { " at \($0)" } ?? "")."
    case .tooLarge(let limit): "The JSON is longer than \(limit) bytes."
    case .tooDeep(let limit): "The JSON is nested deeper than \(limit) levels."
    case .numberOutOfRange(let number): "The number \(number) is too large to be held."
    case .notFinite(let path): "\(path): a number that is infinite or no number cannot be written as JSON."
    case .notAnObject(let found): "A JSON object is needed, but this is \(found)."
    case .malformedPath(let text): "\"\(text)\" is not a JSON path; write it like data.items[0].name."
    }
  }

  /// The sentence as a part of another one: in small letters, without a full stop.
  package var clause: String {
    let sentence = description
    return sentence.prefix(1).lowercased() + sentence.dropFirst().dropLast()
  }
}
