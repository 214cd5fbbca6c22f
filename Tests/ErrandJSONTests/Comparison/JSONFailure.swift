import Foundation

/// What of a decoder's error is compared.
struct JSONFailure: CustomStringConvertible {
  let kind: String
  let path: [String]
  /// The type that was due, the key that is missing, or an error of a type's own.
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
    // So is ours named for a text that is no JSON, and so Foundation's until it leaves the decoder.
    default:
      let isOfText = "\(type(of: error))" == "JSONError"
      (kind, path, detail) = isOfText ? ("dataCorrupted", [], "") : ("own", [], "\(error)")
    }
  }

  /// Foundation tells no path for numbers that do not fit, and for dates that are not ISO 8601 no more than the way to
  /// what they are in; then any that goes on from there is right.
  func isSame(as foundation: JSONFailure) -> Bool {
    let goesOn = foundation.kind == "dataCorrupted" && path.starts(with: foundation.path)
    return kind == foundation.kind && detail == foundation.detail && (path == foundation.path || goesOn)
  }

  /// Without the path where Foundation may leave it out.
  var description: String {
    kind == "dataCorrupted" ? kind : "\(kind)(\(detail)) at \(path.joined(separator: "/"))"
  }

  /// The keys of a path, with the number of those that are more than a number written out.
  static func names(_ path: [any CodingKey]) -> [String] {
    path.map { key in
      guard let number = key.intValue, key.stringValue != String(number) else { return key.stringValue }
      return "\(key.stringValue)#\(number)"
    }
  }
}
