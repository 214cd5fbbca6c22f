/// Why an answer does not go on where the part ends. Nothing of it is written.
package enum ResumeMismatch: Error, Sendable, Hashable {
  /// A 206 that nobody asked for.
  case notAsked
  /// No `Content-Range`, or several.
  case contentRangeCount(Int)
  /// No strong validator or no length of the whole, so that pieces of it cannot be put together.
  case unfit
  /// A `Content-Range` that is none.
  case contentRange(String)
  /// Several ranges in one body.
  case multipart
  /// Another place than was asked for.
  case place(expected: Int64, found: Int64)
  /// More than was asked for.
  case beyond(expected: Int64, found: Int64)
  /// Another length of the whole.
  case total(expected: Int64, found: Int64)
  /// No length of the whole, now or before, so that nobody can tell whether the range reaches the end.
  case noTotal
  /// Another version.
  case version
  /// A content coding.
  case coding(String)
  /// A `Content-Length` that is not that of the range.
  case length(String)
  /// A body longer than was announced.
  case excess(expected: Int64)
}

extension ResumeMismatch: CustomStringConvertible {
  /// One sentence.
  package var description: String { "The server's answer does not go on where the part ends: \(clause)." }

  private var clause: String {
    switch self {
    case .notAsked: "it is a part (206), and the whole was asked for"
    case .unfit: "it names no strong validator or no length, so that pieces of it cannot be put together"
    case .contentRangeCount(0): "it does not say which part it is (no Content-Range)"
    case .contentRangeCount(let count): "it has \(count) Content-Range fields"
    case .contentRange(let text): "its Content-Range is none: “\(text.prefix(80))”"
    case .multipart: "it holds several ranges (multipart/byteranges)"
    case .place(let expected, let found): "it begins at \(found) instead of \(expected)"
    case .beyond(let expected, let found): "it ends at \(found), behind the \(expected) that was asked for"
    case .total(let expected, let found): "the whole has \(found) bytes, and had \(expected)"
    case .noTotal: "nobody has said how long the whole is"
    case .version: "it is another version of the resource"
    case .coding(let coding): "it is coded (Content-Encoding “\(coding.prefix(40))”)"
    case .excess(let expected): "it is longer than the \(expected) bytes it announced"
    case .length(let text): "its Content-Length “\(text.prefix(40))” is not that of its range"
    }
  }
}
