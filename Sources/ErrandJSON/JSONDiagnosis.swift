import ErrandSupport
import Foundation

/// Finds out where and why a decoding failed. It runs only after a failure.
struct JSONDiagnosis {
  private let data: Data
  private let decoding: JSONDecoding

  init(of data: Data, by decoding: JSONDecoding) {
    self.data = data
    self.decoding = decoding
  }

  /// The error to throw in place of the decoder's error.
  func error<T: Decodable>(for error: any Error, decoding type: T.Type, at path: JSONPath) -> JSONDecodingError {
    let root: JSONValue
    do throws(JSONError) {
      root = JSONValue.inText(try JSONDocument(data), at: 0)
    } catch let flaw {
      guard let lenient = lenientRoot(flaw) else {
        return JSONDecodingError(flaw, excerpt: JSONExcerpt.markup(in: data))
      }
      root = lenient
    }
    return describe(place(of: error, decoding: type, at: path), below: path, in: root)
  }

  /// The error to throw in place of the decoder's error, with a hint at the setting that reads the text.
  func errorWithHint<T: Decodable>(for error: any Error, decoding type: T.Type, at path: JSONPath) -> JSONDecodingError
  {
    let described = self.error(for: error, decoding: type, at: path)
    guard let document = try? JSONDocument(data) else { return described }
    // Only the hints for these kinds depend on the type at the path.
    let needsType = [.wrongType, .invalidValue].contains(described.kind)
    let failed = needsType ? secondRun(decoding: type, at: path)?.type : nil
    let hint = JSONDecodingHint(root: JSONValue.inText(document, at: 0), start: path, decoding: decoding)
    return described.hinting(hint.words(for: described, decoding: failed ?? type))
  }

  /// Reads the text again if it violates RFC 8259. Returns its root value if the decoder accepts such a text, for
  /// example because it reads JSON5. In that case the violation is not the reason why decoding failed. Returns nil if
  /// the decoder rejects the text.
  private func lenientRoot(_ flaw: JSONError) -> JSONValue? {
    guard case .notJSON = flaw else { return nil }
    return try? decoding.decoder.decodeChecked(JSONValue.self, from: data)
  }

  /// The path at which decoding failed, the type that was decoded at the path, and the error.
  private struct Place {
    let path: [any CodingKey]
    let type: any Any.Type
    let error: any Error
  }

  /// Finds the path and the type of a failure. `JSONDecoder` reports both reliably only for missing keys, missing
  /// values and type mismatches. For all other errors, a second decoding finds the path and the type.
  private func place<T: Decodable>(of error: any Error, decoding type: T.Type, at path: JSONPath) -> Place {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context):
      return Place(path: context.codingPath + [key], type: type, error: error)
    case .typeMismatch(let expected, let context), .valueNotFound(let expected, let context):
      return Place(path: context.codingPath, type: expected, error: error)
    default:
      guard let failure = secondRun(decoding: type, at: path) else { return Place(path: [], type: type, error: error) }
      return Place(path: failure.path, type: failure.type, error: error)
    }
  }

  private func secondRun<T: Decodable>(
    decoding type: T.Type, at path: JSONPath
  ) -> (path: [any CodingKey], type: any Any.Type)? {
    do {
      return decoding.trace(type, from: try JSONText.utf8(of: data), at: path).failure
    } catch {
      return nil
    }
  }

  private func describe(_ place: Place, below start: JSONPath, in root: JSONValue) -> JSONDecodingError {
    let path = writtenPath(place.path, below: start, in: root)
    let found = root.value(at: path)
    if let number = found.flatMap({ vastNumber(in: $0, place) }) {
      let reason = JSONMask.isSecret(path) ? "the number is too large" : "the number \(number) is too large"
      return JSONDecodingError(kind: .numberOutOfRange, path: path, reason: reason, underlying: place.error)
    }
    let words = JSONDecodingReason(found: found, path: path, type: place.type)
    let (kind, reason) = words.kindAndWords(for: place.error)
    let excerpt = JSONExcerpt.around(path, in: root)
    return JSONDecodingError(kind: kind, path: path, reason: reason, excerpt: excerpt, underlying: place.error)
  }

  /// The text of the number that made the decoding fail, because the number exceeds the range of `Double`. Nil if the
  /// decoding failed for another reason.
  private func vastNumber(in found: JSONValue, _ place: Place) -> String? {
    guard case .dataCorrupted? = place.error as? DecodingError else { return nil }
    if let number = found.vastNumber { return number }
    guard place.type is any JSONReadable.Type, case .written(let here) = found.form else { return nil }
    return here.source.document.numberBeyondDoubles(at: here.index)
  }

  /// Converts the decoder's coding path, whose keys may be converted, to a path in the keys of the text.
  /// - Parameter start: The path at which decoding started. Several keys of the text may have the name of one of its
  ///   steps, so these steps are not searched.
  func writtenPath(_ coding: [any CodingKey], below start: JSONPath, in root: JSONValue) -> JSONPath {
    let shared = zip(coding, decoding.route(to: start).steps).prefix { JSONPath.Step($0) == $1 }.count
    var steps = Array(start.steps.prefix(shared))
    var here = root.value(at: JSONPath(steps))
    for (number, key) in coding.enumerated().dropFirst(shared) {
      let step = writtenStep(key, below: Array(coding.prefix(number)), in: here)
      here = here?.value(at: JSONPath([step]))
      steps.append(step)
    }
    return JSONPath(steps)
  }

  private func writtenStep(
    _ key: any CodingKey, below path: [any CodingKey], in here: JSONValue?
  ) -> JSONPath.Step {
    guard let members = here?.objectValue else { return JSONPath.Step(key) }
    let name = key.stringValue
    if members[name] != nil { return .key(name) }
    return .key(members.keys.sorted().first { decoding.convertedKey($0, below: path) == name } ?? name)
  }
}

extension JSONPath {
  /// Creates a path from coding keys without comparing them with a document.
  init(coding: [any CodingKey]) {
    self.init(coding.map { Step($0) })
  }
}

extension JSONPath.Step {
  /// Creates the step of a path from a coding key. The step is an index if the key has an integer value and the name of
  /// the key is another text, such as `Index 2` for an array element. Otherwise the step is a key.
  init(_ key: any CodingKey) {
    if let index = key.intValue, key.stringValue != String(index) {
      self = .index(index)
    } else {
      self = .key(key.stringValue)
    }
  }
}

/// Describes in words why a value could not be decoded, without showing secrets.
struct JSONDecodingReason {
  /// The value at the path of the failure. Nil if the document has no value at the path.
  let found: JSONValue?
  /// The path of the failure.
  let path: JSONPath
  /// The type that the decoder expected at the path.
  let type: any Any.Type

  func kindAndWords(for error: any Error) -> (JSONDecodingError.Kind, String) {
    switch error as? DecodingError {
    case .keyNotFound: missing
    case .valueNotFound where found == nil: missing
    case .valueNotFound: (.unexpectedNull, "expected \(expected), found null")
    case .typeMismatch(_, let context): mismatch(context)
    case .dataCorrupted(let context): corrupted(context)
    default: (.other, "the type's own code threw \(masked(AppErrorText.of(error)))")
    }
  }

  private var missing: (JSONDecodingError.Kind, String) {
    switch path.steps.last {
    case .key(let key): (.missingKey, "the key \(JSONValue.string(key)) is missing")
    default: (.missingKey, "the array has no element at this index")
    }
  }

  private func mismatch(_ context: DecodingError.Context) -> (JSONDecodingError.Kind, String) {
    guard let found, found.typeName != expected else { return (.invalidValue, masked(context.debugDescription)) }
    return (.wrongType, "expected \(expected), found \(found.typeName)")
  }

  private func corrupted(_ context: DecodingError.Context) -> (JSONDecodingError.Kind, String) {
    guard let found, found.doubleValue != nil, Self.numbers.contains(ObjectIdentifier(type)) else {
      return (.invalidValue, masked(context.debugDescription))
    }
    let number = JSONMask.isSecret(path) ? "the number" : "the number \(found.messageText)"
    return (.numberOutOfRange, "\(number) does not fit \(type)")
  }

  /// Makes the text of an error safe for messages, because the text may quote the value. If the value is secret, the
  /// whole text is replaced. If the value is long, the value is removed from the text. A text of more than 160 scalars
  /// is truncated.
  private func masked(_ text: String) -> String {
    if JSONMask.isSecret(path) { return "the value is invalid" }
    var text = text
    if let string = found?.stringValue, JSONMask.isLong(string) {
      text = text.replacingBytes(of: string, with: JSONMask.mark)
    }
    if text.hasSuffix(".") { text.removeLast() }  // the library's own messages end with a full stop
    return text.unicodeScalars.count > 160 ? String(text.unicodeScalars.prefix(160)) + JSONMask.mark : text
  }

  /// The expected type in words.
  private var expected: String {
    let id = ObjectIdentifier(type)
    if type == String.self { return "a string" }
    if type == Bool.self { return "true or false" }
    if Self.fractions.contains(id) { return "a number" }
    if Self.numbers.contains(id) { return "an integer" }
    if type == [String: Any].self { return "an object" }
    if type == [Any].self { return "an array" }
    return "\(type)"
  }

  private static let fractions = ids([Double.self, Float.self, Decimal.self])
  private static let numbers = fractions.union(
    ids([
      Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self,
      UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self,
    ]))

  private static func ids(_ types: [any Any.Type]) -> Set<ObjectIdentifier> {
    Set(types.map { ObjectIdentifier($0) })
  }
}
