import Foundation

/// The parts of a decoder's error to compare.
struct JSONFailure: CustomStringConvertible {
  let kind: String
  let path: [String]
  /// The expected type, the missing key, or the error of the type's own code.
  let detail: String

  init(_ error: any Error) {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context):
      (kind, path, detail) = ("keyNotFound", Self.names(context.codingPath), key.stringValue)
    case .typeMismatch(let type, let context):
      (kind, path, detail) = ("typeMismatch", Self.names(context.codingPath), "\(type)")
    case .valueNotFound(let type, let context):
      (kind, path, detail) = ("valueNotFound", Self.names(context.codingPath), "\(type)")
    case .dataCorrupted(let context):
      (kind, path, detail) = ("dataCorrupted", Self.names(context.codingPath), "")
    // A type named `JSONError` is the error for invalid JSON, both in Errand and inside Foundation's decoder.
    default:
      let isOfText = "\(type(of: error))" == "JSONError"
      (kind, path, detail) = isOfText ? ("dataCorrupted", [], "") : ("own", [], "\(error)")
    }
  }

  /// Whether two errors are equal. Foundation gives no path for numbers that do not fit, and only the path of the
  /// container for dates that are not ISO 8601. In these cases, any path that begins with Foundation's path is correct.
  func isSame(as foundation: JSONFailure) -> Bool {
    let goesOn = foundation.kind == "dataCorrupted" && path.starts(with: foundation.path)
    return kind == foundation.kind && detail == foundation.detail && (path == foundation.path || goesOn)
  }

  /// The error, without the path if Foundation may omit it.
  var description: String {
    kind == "dataCorrupted" ? kind : "\(kind)(\(detail)) at \(path.joined(separator: "/"))"
  }

  /// The keys of a path. A key with an integer value and another name also has its integer value.
  static func names(_ path: [any CodingKey]) -> [String] {
    path.map { key in
      guard let number = key.intValue, key.stringValue != String(number) else { return key.stringValue }
      return "\(key.stringValue)#\(number)"
    }
  }
}
