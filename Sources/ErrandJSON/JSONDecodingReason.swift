import ErrandSupport
import Foundation

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
    default: (.other, "the type's own code threw \(masked("\(error)"))")
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
    let number = JSONMask.isSecret(path) ? "the number" : "the number \(found.writtenNumber ?? "\(found)")"
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
